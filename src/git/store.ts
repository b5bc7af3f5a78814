/** The store of bare repositories: one folder each below `<root>/<kind>/`, one lock each inside this process. */

import { randomUUID } from 'node:crypto';
import { join, parse, resolve } from 'node:path';
import { HawserError } from '../lib/errors.ts';
import { KeyedMutex, Semaphore } from '../lib/keyed-mutex.ts';
import type { Log } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { BlobInfos } from './blob-info.ts';
import { guardDisk, unlessAbsent } from './disk-errors.ts';
import { MissingRepositories } from './missing-repositories.ts';
import { buildRepository, repositoryExists } from './new-repository.ts';
import { ObjectStore } from './objects.ts';
import { PackCaches } from './pack-cache.ts';
import { Repository, type RepositoryTools } from './repository.ts';
import { gitdirOf, nameOfFolder, readSettings } from './repository-layout.ts';
import { checkVersion, RepositoryWriter } from './repository-writer.ts';
import { sweepLeftOvers } from './sweep.ts';
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
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
} from './types.ts';
import { VersionObjects } from './version-objects.ts';
import { checkContent } from './version-rules.ts';
import { Watch } from './watch.ts';

export type * from './types.ts';

/** Of the cache's bytes: packs weigh far more than lists of files, and these more than facts of blobs. */
const SHARES = { packs: 0.75, versions: 0.2, blobs: 0.05 };
const CONCURRENT_REFRESHES = 8;
/** Beside the kinds, where repositories are built and brought to be removed; emptied at every start. */
const TEMPORARY = '.tmp';

export class GitStore {
  private readonly root: string;
  private readonly fs: AtomicFs;
  private readonly log: Log;
  private readonly packs: PackCaches;
  private readonly tools: RepositoryTools;
  private readonly blobInfos: BlobInfos;
  private readonly missing = new MissingRepositories();
  private readonly repositories = new Map<string, Repository>();
  private readonly mutex = new KeyedMutex();
  private readonly running = new Set<Promise<unknown>>();
  private readonly refreshing = new Set<Repository>();
  private readonly refreshes = new Semaphore(CONCURRENT_REFRESHES);
  private readonly watch: Watch<Repository>;
  private closed = false;

  constructor(options: GitStoreOptions) {
    const { root, log, onRefsMoved, cacheBytes } = options;
    this.root = resolve(root);
    this.log = log;
    this.fs = options.fs ?? new AtomicFs();
    this.packs = new PackCaches(this.fs, Math.floor(cacheBytes * SHARES.packs));
    const objects = new ObjectStore(this.fs, this.packs);
    const versions = new VersionObjects(objects, Math.floor(cacheBytes * SHARES.versions));
    this.blobInfos = new BlobInfos(cacheBytes * SHARES.blobs);
    this.tools = { fs: this.fs, log, objects, versions, onRefsMoved };
    this.watch = new Watch(
      () => this.repositories.values(),
      (repository) => this.startRefresh(repository),
    );
  }

  /** Makes the folders, removes what a crash left unfinished and begins to watch the refs. */
  async open(): Promise<void> {
    await guardDisk(async () => {
      await this.fs.makeFoldersBelow(parse(this.root).root, this.root, 0o700);
      for (const folder of [...REPOSITORY_KINDS, TEMPORARY]) {
        await this.fs.makeFolder(join(this.root, folder), 0o700);
      }
      for (const { name } of await this.fs.readdir(join(this.root, TEMPORARY))) {
        await this.fs.discard(join(this.root, TEMPORARY, name));
      }
    });
    this.watch.start();
  }

  /** Waits for the work under way; further work is refused. */
  async close(): Promise<void> {
    this.closed = true;
    this.watch.stop();
    while (this.running.size > 0) await Promise.allSettled(this.running);
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
      checkContent(ref.kind, draft.entryPoint, draft.files);
    }
    await this.locked(ref, async (repository) => {
      if (await this.has(ref)) throw repositoryExists();
      const site = join(this.root, TEMPORARY, randomUUID());
      const { gitdir } = repository.folder;
      await guardDisk(() => buildRepository(this.tools, { site, gitdir }, settings, draft));
      this.packs.drop(site);
      repository.swept = true;
      this.missing.found(ref);
      await repository.reload();
      await repository.tell();
    });
  }

  /** Removes the repository, at once for all who look; it need not exist. */
  async remove(ref: RepositoryRef): Promise<void> {
    await this.locked(ref, async (repository) => {
      const rubbish = join(this.root, TEMPORARY, randomUUID());
      await guardDisk(() => unlessAbsent(this.fs.rename(repository.folder.gitdir, rubbish), undefined));
      this.missing.removed(ref);
      await repository.forget();
      // Swept at the next start if it fails; the repository itself is gone either way.
      await this.fs
        .discard(rubbish)
        .catch((error) => this.warn(error, 'could not empty a removed repository'));
    });
  }

  /** Runs `work` alone in the repository, on an index fresh from the disk. Not to be nested. */
  async exclusive<T>(ref: RepositoryRef, work: (repository: LockedRepository) => Promise<T>): Promise<T> {
    return this.locked(ref, async (repository) => {
      await this.prepare(repository);
      const writer = new RepositoryWriter(repository, this.tools.versions);
      try {
        return await work(writer);
      } finally {
        writer.end();
        if (repository.crowded) this.startPacking(repository);
      }
    });
  }

  /** From memory after the first time; `repository_missing`. */
  async index(ref: RepositoryRef): Promise<VersionIndex> {
    const known = this.repositories.get(gitdirOf(this.root, ref))?.known;
    if (known) return known;
    return this.reading(ref, async (repository) => {
      const index = await repository.load();
      await this.tidyInTurn(repository);
      return repository.known ?? index;
    });
  }

  /** `repository_damaged` when any object of the version but a file's is missing or broken. */
  async details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.reading(ref, (repository) => guardDisk(() => repository.details(version)));
  }

  /** A file's bytes; `repository_damaged` when the object is missing, broken or no blob. */
  async blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.reading(ref, (repository) => guardDisk(() => repository.blob(oid)));
  }

  /** As `blob`, of its bytes only how many they are and their hash; from memory after the first time. */
  async blobInfo(ref: RepositoryRef, oid: string): Promise<BlobInfo> {
    return this.blobInfos.of(oid, () => this.blob(ref, oid));
  }

  /** What is known to be amiss now: of repositories in memory, and of those that are not there when asked for. */
  problems(): readonly RepositoryProblem[] {
    const loaded = [...this.repositories.values()].flatMap((repository) => repository.problems);
    return [...loaded, ...this.missing.problems];
  }

  private repositoryOf(ref: RepositoryRef): Repository {
    const gitdir = gitdirOf(this.root, ref);
    const known = this.repositories.get(gitdir);
    if (known) return known;
    const repository = new Repository(this.tools, { kind: ref.kind, name: ref.name }, gitdir);
    this.repositories.set(gitdir, repository);
    return repository;
  }

  private dropIfIdle(repository: Repository): void {
    const { gitdir } = repository.folder;
    if (!repository.idle || this.repositories.get(gitdir) !== repository) return;
    this.repositories.delete(gitdir);
    this.packs.drop(gitdir);
  }

  private async reading<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    const repository = this.repositoryOf(ref);
    try {
      return await this.missing.noting(ref, () => work(repository));
    } finally {
      this.dropIfIdle(repository);
    }
  }

  private async locked<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    if (this.closed) throw new HawserError('unavailable', 'shutting_down', 'The server is shutting down.');
    return this.track(
      this.mutex.run(gitdirOf(this.root, ref), async () => {
        const repository = this.repositoryOf(ref);
        repository.busy = true;
        try {
          return await this.missing.noting(ref, () => work(repository));
        } finally {
          repository.busy = false;
          this.dropIfIdle(repository);
        }
      }),
    );
  }

  private async track<T>(run: Promise<T>): Promise<T> {
    this.running.add(run);
    try {
      return await run;
    } finally {
      this.running.delete(run);
    }
  }

  private async prepare(repository: Repository): Promise<void> {
    await repository.fresh();
    if (!repository.swept) {
      repository.swept = true;
      await sweepLeftOvers(this.fs, repository.folder.gitdir).catch((error) =>
        this.warn(error, 'could not sweep a repository'),
      );
    }
    if (await repository.tidy()) await repository.tell();
  }

  /**
   * Not while the lock is held or waited for: the holder may be the very caller, and tidies when it takes the lock;
   * and to wait while holding another repository's lock could be for ever. A free lock is taken without a wait.
   */
  private async tidyInTurn(repository: Repository): Promise<void> {
    const isTaken = this.mutex.isTaken(gitdirOf(this.root, repository.ref));
    if (!repository.untidy || isTaken || this.closed) return;
    await this.exclusive(repository.ref, async () => undefined).catch((error) =>
      this.warn(error, 'could not tidy the refs of a repository'),
    );
  }

  private startRefresh(repository: Repository): void {
    if (this.refreshing.has(repository)) return;
    this.refreshing.add(repository);
    const refresh = this.refreshes.run(() => this.refresh(repository));
    void this.track(refresh).finally(() => this.refreshing.delete(repository));
  }

  /** After the answer to whoever made the refs too many; the next in line for the lock waits for it. */
  private startPacking({ ref }: Repository): void {
    if (this.closed) return;
    void this.locked(ref, (repository) => guardDisk(() => repository.pack())).catch((error) =>
      this.warn(error, 'could not pack the refs of a repository'),
    );
  }

  /** For the watch, so it settles everything by itself: what cannot be read is forgotten, and readers fail. */
  private async refresh(repository: Repository): Promise<void> {
    try {
      await repository.lookAgain();
      await this.tidyInTurn(repository);
    } catch (error) {
      this.warn(error, 'cannot read the refs of a repository any more');
      await repository.forget().catch((failure) => this.warn(failure, 'could not pass on that refs moved'));
      this.dropIfIdle(repository);
    }
  }

  private warn(error: unknown, message: string): void {
    this.log.warn({ err: error }, message);
  }
}
