/** The store of bare repositories: one folder each below `<root>/<kind>/`, one lock each. */

import { randomUUID } from 'node:crypto';
import { join, parse, resolve } from 'node:path';
import type { CacheFacts } from '../lib/counted-cache.ts';
import { internal } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { LocalLocks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import { Pace } from '../lib/pace.ts';
import { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, guardDisk, unlessAbsent } from './disk-errors.ts';
import type { RepositoryTools } from './loaded-repository.ts';
import { MissingRepositories } from './missing-repositories.ts';
import { buildRepository, repositoryExists } from './new-repository.ts';
import { BlobInfos, PackCaches } from './object-caches.ts';
import { ObjectStore } from './objects.ts';
import { timed } from './operations.ts';
import { ParameterStore } from './parameter-store.ts';
import { Repository } from './repository.ts';
import { gitdirOf, nameOfFolder, readSettings } from './repository-layout.ts';
import { RepositoryPool } from './repository-pool.ts';
import { checkVersion, RepositoryWriter } from './repository-writer.ts';
import {
  type BlobInfo,
  type DraftInput,
  type GitStoreOptions,
  type LockedRepository,
  REPOSITORY_KINDS,
  type RepositoryKind,
  type RepositoryProblem,
  type RepositoryRef,
  type RepositorySettings,
  type StoredFile,
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
} from './types.ts';
import { VersionObjects } from './version-objects.ts';
import { checkContent } from './version-rules.ts';

export type * from './parameter-types.ts';
export type * from './types.ts';

/** Of one version. */
const BLOBS_AT_ONCE = 8;
/** Of the cache's bytes: packs weigh far more than lists of files, and these more than facts of blobs. */
const SHARES = { packs: 0.65, versions: 0.2, contents: 0.1, blobs: 0.05 };
/** Beside the kinds, where repositories are built and brought to be removed; emptied at every start. */
const TEMPORARY = '.tmp';

export class GitStore {
  /** The parameter files and schemas of configurations. */
  readonly parameters: ParameterStore;
  private readonly root: string;
  private readonly fs: AtomicFs;
  private readonly log: Log;
  private readonly packs: PackCaches;
  private readonly versions: VersionObjects;
  private readonly tools: RepositoryTools;
  private readonly blobInfos: BlobInfos;
  private readonly missing = new MissingRepositories();
  private readonly pool: RepositoryPool<Repository>;

  constructor(options: GitStoreOptions) {
    const { root, log, onRefsMoved, cacheBytes } = options;
    const { onOperation = () => undefined, leftBefore = () => performance.timeOrigin } = options;
    this.root = resolve(root);
    this.log = log;
    this.fs = options.fs ?? new AtomicFs();
    this.packs = new PackCaches(this.fs, Math.floor(cacheBytes * SHARES.packs));
    const objects = new ObjectStore(this.fs, this.packs);
    const versions = new VersionObjects(objects, Math.floor(cacheBytes * SHARES.versions), onOperation);
    this.versions = versions;
    this.blobInfos = new BlobInfos(cacheBytes * SHARES.blobs);
    const { beforeWrite = async () => undefined } = options;
    this.tools = { fs: this.fs, log, objects, versions, onRefsMoved, beforeWrite, onOperation, leftBefore };
    const locks = options.locks ?? new LocalLocks();
    const poolTools = { root: this.root, fs: this.fs, log, packs: this.packs, locks, beforeWrite };
    this.pool = new RepositoryPool(poolTools, (ref, gitdir) => new Repository(this.tools, ref, gitdir));
    this.parameters = new ParameterStore({ ...poolTools, ...this.tools }, this.blobInfos, {
      temporary: join(this.root, TEMPORARY),
      contentBytes: Math.floor(cacheBytes * SHARES.contents),
    });
  }

  /** Makes the folders, and removes what a crash left unfinished; before any process uses the store. */
  async prepare(): Promise<void> {
    await guardDisk(async () => {
      await this.fs.makeFoldersBelow(parse(this.root).root, this.root, 0o700);
      for (const folder of [...REPOSITORY_KINDS, TEMPORARY]) {
        await this.fs.makeFolder(join(this.root, folder), 0o700);
        await this.fs.flushIfRecent(join(this.root, folder));
      }
      await this.fs.flushIfRecent(this.root);
      for (const { name } of await this.fs.readdir(join(this.root, TEMPORARY))) {
        await this.fs.discard(join(this.root, TEMPORARY, name));
      }
    });
  }

  /** Begins to watch the refs. */
  open(): void {
    this.pool.start();
    this.parameters.start();
  }

  /** Waits for the work under way; further work is refused. */
  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.parameters.close()]);
  }

  /** Another process has moved refs of the repository, or of any if none is named: the next reading looks. */
  outdate(ref?: RepositoryRef): void {
    if (ref === undefined) {
      this.pool.outdateAll();
      this.parameters.outdate();
    } else if (ref.kind === 'parameters') this.parameters.outdate(ref.name);
    else this.pool.outdate(ref);
  }

  /** The names of the repositories on the disk, sorted. */
  async list(kind: RepositoryKind): Promise<string[]> {
    const entries = await guardDisk(() => this.fs.readdir(join(this.root, kind)));
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => nameOfFolder(entry.name));
    return names.filter((name) => name !== null).sort();
  }

  async has(ref: RepositoryRef): Promise<boolean> {
    const gitdir = gitdirOf(this.root, ref);
    const stats = await guardDisk(() => unlessAbsent(this.fs.lstat(gitdir), null));
    return stats?.isDirectory() ?? false;
  }

  /** As written at creation; null for a repository that Hawser did not make. */
  async settings(ref: RepositoryRef): Promise<RepositorySettings | null> {
    return guardDisk(() => readSettings(this.fs, gitdirOf(this.root, ref)));
  }

  /** Makes the repository, with a first draft if there is one, whole or not at all; conflict `name_taken`. */
  async create(ref: RepositoryRef, settings: RepositorySettings, draft: DraftInput | null): Promise<void> {
    if (draft) {
      checkVersion(draft.version);
      await checkContent(ref.kind, draft);
    }
    await this.locked(ref, async (repository) => {
      // It may be what is left of a creation that failed.
      await this.fs.discardAgain();
      if (await this.has(ref)) throw repositoryExists();
      const site = join(this.root, TEMPORARY, randomUUID());
      const { gitdir } = repository.folder;
      await timed(this.tools.onOperation, 'create', () =>
        guardDisk(() => buildRepository(this.tools, { site, gitdir }, settings, draft)),
      );
      this.packs.drop(site);
      repository.swept = true;
      this.missing.found(ref);
      try {
        await repository.reload();
        // What cannot be read back has not been made.
        if (draft && repository.known?.get(draft.version) === undefined) throw damagedRepository();
        await repository.tell();
      } catch (error) {
        await this.fs.discard(gitdir).catch(() => undefined);
        await repository.forget().catch(() => undefined);
        throw error;
      }
    });
  }

  /** Removes the repository, at once for all who look; it need not exist. */
  async remove(ref: RepositoryRef): Promise<void> {
    if (ref.kind === 'parameters') return this.parameters.remove(ref.name);
    await this.locked(ref, async (repository) => {
      const rubbish = join(this.root, TEMPORARY, randomUUID());
      try {
        await timed(this.tools.onOperation, 'delete', () =>
          guardDisk(() => unlessAbsent(this.fs.rename(repository.folder.gitdir, rubbish), undefined)),
        );
        this.missing.removed(ref);
        await repository.forget();
      } finally {
        // Made up for later if it fails; the repository itself is gone either way.
        await this.fs
          .discard(rubbish)
          .catch((error) => this.log.warn({ err: error }, 'could not empty a removed repository'));
      }
    });
  }

  /** Runs `work` alone in the repository, on an index fresh from the disk. Not to be nested. */
  async exclusive<T>(ref: RepositoryRef, work: (repository: LockedRepository) => Promise<T>): Promise<T> {
    refuseParameters(ref);
    return this.missing.noting(ref, () =>
      this.pool.exclusive(ref, async (repository) => {
        const writer = new RepositoryWriter(repository, this.tools);
        try {
          return await work(writer);
        } finally {
          writer.end();
        }
      }),
    );
  }

  /** From memory after the first time; `repository_missing`. */
  async index(ref: RepositoryRef): Promise<VersionIndex> {
    const known = this.pool.peek(ref)?.current;
    if (known) return known;
    return this.reading(ref, async (repository) => {
      const index = await repository.load();
      await this.pool.tidyInTurn(repository);
      return repository.known ?? index;
    });
  }

  /** `repository_damaged` when any object of the version but a file's is missing or broken. */
  async details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.reading(ref, (repository) => guardDisk(() => repository.details(version)));
  }

  /**
   * By version, the published one whose entry point it takes because it names none itself, as tags by stock git do:
   * without that one it would be another version.
   */
  async entryPointLenders(ref: RepositoryRef): Promise<ReadonlyMap<string, string>> {
    return this.reading(ref, async (repository) => {
      await repository.load();
      return repository.lenders();
    });
  }

  /** A file's bytes; `repository_damaged` when the object is missing, broken or no blob. */
  async blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.reading(ref, (repository) => guardDisk(() => repository.blob(oid)));
  }

  /** Of each file, in their order, as `blob`, but only how many bytes and their hash; from memory after the first time. */
  async fileInfos(ref: RepositoryRef, files: readonly StoredFile[]): Promise<BlobInfo[]> {
    const infos: BlobInfo[] = [];
    const pace = new Pace();
    await forEachOf(files.entries(), BLOBS_AT_ONCE, async ([at, { oid }]) => {
      infos[at] = await this.blobInfos.of(oid, () => this.blob(ref, oid));
      if (pace.isDue) await pace.rest();
    });
    return infos;
  }

  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  async writeFault(): Promise<string | null> {
    if (this.fs.writeFault === null) return null;
    const probe = join(this.root, TEMPORARY, randomUUID());
    await this.fs.writePlain(probe, 'x').catch(() => undefined);
    await this.fs.discard(probe).catch(() => undefined);
    return this.fs.writeFault;
  }

  /** What is known to be amiss now: of repositories in memory, and of those that are not there when asked for. */
  problems(): readonly RepositoryProblem[] {
    return [...this.pool.problems, ...this.parameters.problems, ...this.missing.problems];
  }

  /** By name, what is in memory. */
  get caches(): Record<'packs' | 'versions' | 'parameter_files' | 'blob_facts', CacheFacts> {
    return {
      packs: this.packs.facts,
      versions: this.versions.facts,
      parameter_files: this.parameters.facts,
      blob_facts: this.blobInfos.facts,
    };
  }

  private async reading<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    refuseParameters(ref);
    return this.missing.noting(ref, () => this.pool.reading(ref, work));
  }

  private async locked<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    refuseParameters(ref);
    return this.missing.noting(ref, () => this.pool.locked(ref, work));
  }
}

/** They have locks and an index of their own, which a second way in would pass by. */
function refuseParameters({ kind }: RepositoryRef): void {
  if (kind !== 'parameters') return;
  throw internal('wrong_store', 'Parameters are read and written through the store of parameters.');
}
