/** The store of versions: one bare repository for each configuration, composite and set of parameters. */

import { resolve } from 'node:path';
import { AtomicFs } from '../git/atomic-fs.ts';
import { damagedRepository, guardDisk } from '../git/disk-errors.ts';
import { BlobInfos, PackCaches } from '../git/object-caches.ts';
import { ObjectStore } from '../git/objects.ts';
import { timed } from '../git/operations.ts';
import type {
  BlobInfo,
  RepositoryKind,
  RepositoryRef,
  RepositorySettings,
  StoredFile,
} from '../git/types.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { HawserError } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { LocalLocks } from '../lib/locks.ts';
import { Pace } from '../lib/pace.ts';
import { checkDraft, KINDS, refNameOf } from './kinds.ts';
import { ParameterFiles } from './parameter-files.ts';
import { Repository, type RepositoryTools } from './repository.ts';
import { RepositoryFolders, repositoryExists } from './repository-folders.ts';
import type { RepositoryIndex } from './repository-index.ts';
import { RepositoryPool } from './repository-pool.ts';
import { RepositoryWriter } from './repository-writer.ts';
import type { SortedVersions } from './sorted-versions.ts';
import {
  type DraftInput,
  type GitStoreOptions,
  type LockedRepository,
  ONLY_SERIES,
  type RepositoryProblem,
  type VersionDetails,
  type VersionRef,
} from './types.ts';
import { VersionObjects } from './version-objects.ts';
import { VersionWriter } from './version-writer.ts';

export type * from '../git/types.ts';
export type { ParameterContentType, ParameterDetails, ParameterScope } from './parameter-files.ts';
export type * from './types.ts';

/** Files of one version that are read at once. */
const BLOBS_AT_ONCE = 8;
/** The shares of the cache's bytes. Packs weigh far more than lists of files, and these more than facts of blobs. */
const SHARES = { packs: 0.65, versions: 0.2, contents: 0.1, blobs: 0.05 };

export class GitStore {
  /** The parameter files and schemas of configurations. */
  readonly parameters: ParameterFiles;
  private readonly fs: AtomicFs;
  private readonly folders: RepositoryFolders;
  private readonly packs: PackCaches;
  private readonly tools: RepositoryTools;
  private readonly beforeWrite: () => Promise<void>;
  private readonly blobInfos: BlobInfos;
  private readonly contents: CountedCache<Buffer>;
  private readonly pool: RepositoryPool;
  /** The repositories that somebody asked for in vain, by kind and name: a row of the registry leads to nothing. */
  private readonly missing = new Map<string, RepositoryRef>();
  /** Those that this store has removed. A reader who comes too late is no sign of a fault. */
  private readonly removed = new Set<string>();

  constructor(options: GitStoreOptions) {
    const { root, log, onRefsMoved, cacheBytes, beforeWrite = async () => undefined } = options;
    const { onOperation = () => undefined, leftBefore = () => performance.timeOrigin } = options;
    const fs = options.fs ?? new AtomicFs();
    this.fs = fs;
    this.folders = new RepositoryFolders(resolve(root), fs, log);
    this.packs = new PackCaches(fs, Math.floor(cacheBytes * SHARES.packs));
    this.contents = new CountedCache({
      maxSize: Math.max(1, Math.floor(cacheBytes * SHARES.contents)),
      sizeCalculation: ({ byteLength }) => byteLength + 200,
    });
    this.blobInfos = new BlobInfos(cacheBytes * SHARES.blobs);
    this.beforeWrite = beforeWrite;
    const objects = new ObjectStore(fs, this.packs);
    const versions = new VersionObjects(objects, Math.floor(cacheBytes * SHARES.versions), onOperation);
    const trees = this.contents;
    this.tools = { fs, log, objects, versions, trees, onRefsMoved, onOperation, leftBefore };
    const locks = options.locks ?? new LocalLocks();
    const poolTools = { root: this.folders.root, fs, log, packs: this.packs, locks, beforeWrite };
    this.pool = new RepositoryPool(poolTools, (ref, gitdir) => new Repository(this.tools, ref, gitdir));
    this.parameters = new ParameterFiles(this, this.blobInfos, this.contents);
  }

  /** Makes the folders, and removes what a crash left unfinished. To be called before any process uses the store. */
  prepare(): Promise<void> {
    return this.folders.prepare();
  }

  /** The absolute path of the folder of all repositories. */
  get root(): string {
    return this.folders.root;
  }

  /** Begins to watch the refs. */
  open(): void {
    this.pool.start();
  }

  /** Waits for the work that is under way. Further work is refused. */
  close(): Promise<void> {
    return this.pool.close();
  }

  /** Makes the next readers look at the disk: of this repository, or of all if none is named. */
  invalidate(ref?: RepositoryRef): void {
    this.pool.invalidate(ref);
  }

  /** The names of the repositories on the disk, sorted. */
  list(kind: RepositoryKind): Promise<string[]> {
    return this.folders.list(kind);
  }

  has(ref: RepositoryRef): Promise<boolean> {
    return this.folders.has(ref);
  }

  /** The settings as written at creation; null for a repository that Hawser did not make. */
  settings(ref: RepositoryRef): Promise<RepositorySettings | null> {
    return this.folders.settings(ref);
  }

  /**
   * Makes a repository, with a first draft if there is one, whole or not at all. Conflict `name_taken`.
   * @returns the commit of the draft
   */
  async create(
    ref: RepositoryRef,
    settings: RepositorySettings,
    draft: DraftInput | null,
  ): Promise<string | null> {
    const kind = KINDS[ref.kind];
    const named = draft && { series: ONLY_SERIES, version: draft.version, status: 'Draft' as const };
    if (draft && named) await checkDraft(kind, named, draft);
    return this.tracking(ref, () =>
      this.pool.locked(ref, async (repository) => {
        // What is there may be the rest of a creation that failed.
        await this.fs.discardAgain();
        if (await this.has(ref)) throw repositoryExists();
        await this.make(repository, settings, async (site) => {
          if (!draft || !named) return;
          const writer = new VersionWriter(this.tools, { ref, kind }, site);
          const commit = await writer.writeDraft({ ...named, parent: null }, draft);
          await this.fs.writeFile(`${site}/${refNameOf(named)}`, `${commit}\n`);
          refuseGone(draft.gone);
          this.packs.drop(site);
        });
        try {
          const index = await repository.reload();
          // A version that cannot be read back has not been made.
          const made = draft && index.of(ONLY_SERIES).get(draft.version);
          if (made === undefined) throw damagedRepository();
          await repository.notifier.notify();
          return made?.oid ?? null;
        } catch (error) {
          await this.fs.discard(repository.folder.gitdir).catch(() => undefined);
          await repository.forget().catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  /** Removes a repository, at once for all who look. It need not exist. */
  async remove(ref: RepositoryRef): Promise<void> {
    await this.pool.locked(ref, (repository) =>
      timed(this.tools.onOperation, 'delete', () =>
        this.folders.remove(repository.folder.gitdir, async () => {
          this.removed.add(keyOf(ref));
          this.missing.delete(keyOf(ref));
          await repository.forget();
        }),
      ),
    );
  }

  /**
   * Runs `work` alone in the repository, on versions fresh from the disk. It must not be nested. A repository of
   * parameters is made with its first version, so there `work` has to see for itself that the configuration still
   * exists: its end removes the repository under the same lock.
   */
  async exclusive<T>(ref: RepositoryRef, work: (repository: LockedRepository) => Promise<T>): Promise<T> {
    return this.tracking(ref, () =>
      this.pool.exclusive(ref, async (repository) => {
        const create = () => this.make(repository, null);
        const writer = new RepositoryWriter(repository, {
          ...this.tools,
          beforeWrite: this.beforeWrite,
          create,
        });
        try {
          const result = await work(writer);
          await writer.noteRest();
          return result;
        } finally {
          writer.end();
        }
      }),
    );
  }

  /** All series of a repository, from memory after the first time. `repository_missing`. */
  async index(ref: RepositoryRef): Promise<RepositoryIndex> {
    const known = this.pool.peek(ref)?.current;
    if (known) return known;
    return this.reading(ref, async (repository) => {
      const index = await repository.load();
      await this.pool.tidyInTurn(repository);
      return repository.known ?? index;
    });
  }

  /** The versions of a configuration or composite, as `index`. */
  async versions(ref: RepositoryRef): Promise<SortedVersions> {
    return (await this.index(ref)).of(ONLY_SERIES);
  }

  /** `repository_damaged` when an object of the version other than a file's is missing or broken. */
  details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.reading(ref, (repository) => guardDisk(() => repository.details(version)));
  }

  /** A file's bytes. `repository_damaged` when the object is missing, broken or no blob. */
  blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.reading(ref, (repository) => guardDisk(() => repository.blob(oid)));
  }

  /** The size and the hash of each file, in their order. They come from memory after the first time. */
  async fileInfos(ref: RepositoryRef, files: readonly Pick<StoredFile, 'oid'>[]): Promise<BlobInfo[]> {
    const infos: BlobInfo[] = [];
    const pace = new Pace();
    await forEachOf(files.entries(), BLOBS_AT_ONCE, async ([at, { oid }]) => {
      infos[at] = await this.blobInfos.of(oid, () => this.blob(ref, oid));
      if (pace.isDue) await pace.rest();
    });
    return infos;
  }

  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  writeFault(): Promise<string | null> {
    return this.folders.writeFault();
  }

  /** The known faults: of repositories in memory, and of those that are not there when they are asked for. */
  problems(): readonly RepositoryProblem[] {
    const missing = [...this.missing.values()].map((repository) => {
      return { repository, ref: '', reason: 'repository_missing' };
    });
    return [...this.pool.problems, ...missing];
  }

  /** What is in memory, by name. */
  get caches(): Record<'packs' | 'versions' | 'parameter_files' | 'blob_facts', CacheFacts> {
    return {
      packs: this.packs.facts,
      versions: this.tools.versions.facts,
      parameter_files: this.contents.facts,
      blob_facts: this.blobInfos.facts,
    };
  }

  private async make(
    repository: Repository,
    settings: RepositorySettings | null,
    fill?: (site: string) => Promise<void>,
  ): Promise<void> {
    await timed(this.tools.onOperation, 'create', () =>
      guardDisk(() => this.folders.make(repository.folder.gitdir, settings, fill)),
    );
    repository.swept = true;
    this.removed.delete(keyOf(repository.ref));
  }

  private reading<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    return this.tracking(ref, () => this.pool.reading(ref, work));
  }

  /** Keeps in mind whether the repository is there. */
  private async tracking<T>(ref: RepositoryRef, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      if (this.missing.size > 0) this.missing.delete(keyOf(ref));
      return result;
    } catch (error) {
      const isMissing = error instanceof HawserError && error.code === 'repository_missing';
      if (isMissing && !this.removed.has(keyOf(ref))) this.missing.set(keyOf(ref), { ...ref });
      throw error;
    }
  }
}

function keyOf({ kind, name }: RepositoryRef): string {
  return `${kind}/${name}`;
}
