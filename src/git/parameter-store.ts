/** Parameter files and uploaded schemas: one repository for each configuration, made at the first write. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { sha256Hex } from '../lib/hash.ts';
import { guardDisk, unlessAbsent } from './disk-errors.ts';
import type { RepositoryTools } from './loaded-repository.ts';
import { buildEmptyRepository } from './new-repository.ts';
import type { BlobInfos } from './object-caches.ts';
import { timed } from './operations.ts';
import { contentTypeOf } from './parameter-refs.ts';
import { ParameterRepository } from './parameter-repository.ts';
import type {
  LockedParameters,
  ParameterDetails,
  ParameterIndex,
  ParameterVersionRef,
} from './parameter-types.ts';
import { ParameterWriter } from './parameter-writer.ts';
import { type PoolTools, RepositoryPool } from './repository-pool.ts';
import type { RepositoryProblem, RepositoryRef } from './types.ts';

export interface ParameterStoreOptions {
  /** A folder on the same disk, where repositories are built and brought to be removed. */
  temporary: string;
  /** Bytes of memory for the content of files, and for the folders of the branches. */
  contentBytes: number;
}

const NOTHING = { size: 0, sha256: sha256Hex(Buffer.alloc(0)) };

/** Everything takes the name of the configuration. */
export class ParameterStore {
  private readonly tools: RepositoryTools & PoolTools;
  private readonly blobInfos: BlobInfos;
  private readonly temporary: string;
  private readonly contents: CountedCache<Buffer>;
  private readonly pool: RepositoryPool<ParameterRepository>;

  constructor(
    tools: RepositoryTools & PoolTools,
    blobInfos: BlobInfos,
    { temporary, contentBytes }: ParameterStoreOptions,
  ) {
    this.tools = tools;
    this.blobInfos = blobInfos;
    this.temporary = temporary;
    this.contents = new CountedCache({
      maxSize: Math.max(1, contentBytes),
      sizeCalculation: ({ byteLength }) => byteLength + 200,
    });
    const shared = { ...tools, contents: this.contents };
    this.pool = new RepositoryPool(tools, (ref, gitdir) => new ParameterRepository(shared, ref, gitdir));
  }

  /** Of the content of files. */
  get facts(): CacheFacts {
    return this.contents.facts;
  }

  get problems(): RepositoryProblem[] {
    return this.pool.problems;
  }

  start(): void {
    this.pool.start();
  }

  /** Another process has moved refs of these parameters, or of any if none are named. */
  outdate(name?: string): void {
    if (name === undefined) this.pool.outdateAll();
    else this.pool.outdate(refOf(name));
  }

  /** Waits for the work under way; further work is refused. */
  close(): Promise<void> {
    return this.pool.close();
  }

  /** From memory after the first time; empty where there is no repository, which is no error. */
  async index(name: string): Promise<ParameterIndex> {
    const known = this.pool.peek(refOf(name))?.current;
    if (known) return known;
    return this.pool.reading(refOf(name), async (repository) => {
      const index = await repository.load();
      await this.pool.tidyInTurn(repository);
      return repository.known ?? index;
    });
  }

  /** Of a parameter file or a schema; `repository_damaged` when an object is missing or broken. */
  async details(name: string, ref: ParameterVersionRef): Promise<ParameterDetails> {
    const read = await this.pool.reading(refOf(name), (repository) =>
      guardDisk(() => repository.content(ref)),
    );
    const { commit, createdAt, createdBy, publishedAt, publishedBy, files, passthrough } = read;
    const file = files[0] ?? null;
    const info = file ? await this.blobInfos.of(file.oid, () => this.blob(name, file.oid)) : NOTHING;
    return {
      version: ref.version,
      status: ref.status,
      commit,
      contentType: file && contentTypeOf(file.path),
      oid: file?.oid ?? null,
      isPassthrough: passthrough,
      ...info,
      createdAt,
      createdBy,
      publishedAt,
      publishedBy,
    };
  }

  /** The bytes of a parameter file or schema, which are not to be changed; null where a scope is skipped. */
  async content(name: string, ref: ParameterVersionRef): Promise<Buffer | null> {
    const { files } = await this.pool.reading(refOf(name), (repository) =>
      guardDisk(() => repository.content(ref)),
    );
    return files[0] ? this.blob(name, files[0].oid) : null;
  }

  /** As `content`, by the id of the blob. */
  async blob(name: string, oid: string): Promise<Buffer> {
    const known = this.contents.get(oid);
    if (known) return known;
    const content = await this.pool.reading(refOf(name), (repository) =>
      guardDisk(() => repository.blob(oid)),
    );
    this.contents.set(oid, content);
    return content;
  }

  /**
   * Runs `work` alone in the parameters of a configuration, on an index fresh from the disk. Not to be nested.
   * `work` has to see for itself that the configuration is still there: its end removes the repository under the
   * same lock, and a write after it would bring back another.
   */
  async exclusive<T>(name: string, work: (parameters: LockedParameters) => Promise<T>): Promise<T> {
    return this.pool.exclusive(refOf(name), async (repository) => {
      const writer = new ParameterWriter(repository, {
        objects: this.tools.objects,
        onOperation: this.tools.onOperation,
        create: () => this.create(repository),
        details: (ref) => this.details(name, ref),
      });
      try {
        return await work(writer);
      } finally {
        writer.end();
      }
    });
  }

  /** Removes the repository, at once for all who look; it need not exist. */
  async remove(name: string): Promise<void> {
    await this.pool.locked(refOf(name), async (repository) => {
      const rubbish = join(this.temporary, randomUUID());
      const { fs, log, onOperation } = this.tools;
      try {
        await timed(onOperation, 'delete', () =>
          guardDisk(() => unlessAbsent(fs.rename(repository.folder.gitdir, rubbish), undefined)),
        );
        await repository.forget();
      } finally {
        // Made up for later if it fails; the repository itself is gone either way.
        await fs
          .discard(rubbish)
          .catch((error) => log.warn({ err: error }, 'could not empty a removed repository'));
      }
    });
  }

  private async create(repository: ParameterRepository): Promise<void> {
    const site = join(this.temporary, randomUUID());
    const { fs, onOperation } = this.tools;
    const { gitdir } = repository.folder;
    await timed(onOperation, 'create', () => buildEmptyRepository(fs, { site, gitdir }));
    this.tools.packs.drop(site);
    repository.swept = true;
  }
}

function refOf(name: string): RepositoryRef {
  return { kind: 'parameters', name };
}
