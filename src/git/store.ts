/** The store of bare repositories: one folder each below `<root>/<kind>/`, one lock each inside this process. */

import { randomUUID } from 'node:crypto';
import { join, parse, resolve } from 'node:path';
import { conflict, HawserError } from '../lib/errors.ts';
import { KeyedMutex, Semaphore } from '../lib/keyed-mutex.ts';
import type { Log } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { errnoOf, guardDisk, missingRepository, unlessAbsent } from './disk-errors.ts';
import { ObjectStore } from './objects.ts';
import { PackCaches } from './pack-cache.ts';
import { Repository, type RepositoryTools } from './repository.ts';
import { gitdirOf, makeSkeleton, nameOfFolder, readSettings } from './repository-layout.ts';
import { checkVersion, RepositoryWriter } from './repository-writer.ts';
import { sweepLeftOvers } from './sweep.ts';
import {
  type DraftInput,
  type GitStoreOptions,
  type LockedRepository,
  REPOSITORY_KINDS,
  type RepositoryKind,
  type RepositoryRef,
  type RepositorySettings,
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
} from './types.ts';
import { draftRefName } from './version-index.ts';
import { VersionObjects } from './version-objects.ts';
import { Watch } from './watch.ts';

export type * from './types.ts';

/** Of the cache's bytes: packs weigh far more than lists of files. */
const SHARE_OF_PACKS = 0.75;
const CONCURRENT_REFRESHES = 8;
/** Beside the kinds, where repositories are built and brought to be removed; emptied at every start. */
const TEMPORARY = '.tmp';

export class GitStore {
  private readonly root: string;
  private readonly fs: AtomicFs;
  private readonly log: Log;
  private readonly packs: PackCaches;
  private readonly tools: RepositoryTools;
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
    this.packs = new PackCaches(this.fs, Math.floor(cacheBytes * SHARE_OF_PACKS));
    const objects = new ObjectStore(this.fs, this.packs);
    const versions = new VersionObjects(objects, Math.floor(cacheBytes * (1 - SHARE_OF_PACKS)));
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

  /** Makes the repository with its first draft, whole or not at all; conflict `name_taken`. */
  async create(ref: RepositoryRef, settings: RepositorySettings, draft: DraftInput): Promise<VersionDetails> {
    checkVersion(draft.version);
    return this.locked(ref, async (repository) => {
      if (await this.has(ref)) throw nameTaken();
      await guardDisk(() => this.build(repository.folder.gitdir, settings, draft));
      repository.swept = true;
      const version = (await repository.reload()).get(draft.version);
      await repository.tell();
      if (!version) throw missingRepository();
      return repository.details(version);
    });
  }

  /** Removes the repository, at once for all who look; it need not exist. */
  async remove(ref: RepositoryRef): Promise<void> {
    await this.locked(ref, async (repository) => {
      const rubbish = join(this.root, TEMPORARY, randomUUID());
      await guardDisk(() => unlessAbsent(this.fs.rename(repository.folder.gitdir, rubbish), undefined));
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

  /** `repository_damaged` when any object of the version is missing or broken. */
  async details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.reading(ref, (repository) => guardDisk(() => repository.details(version)));
  }

  /** A file's bytes; `repository_damaged` when the object is missing, broken or no blob. */
  async blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return guardDisk(() => this.tools.objects.readBlob(gitdirOf(this.root, ref), oid));
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
      return await work(repository);
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
          return await work(repository);
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

  /** Not while the lock is held: the holder may be the very caller, and has tidied when it took the lock. */
  private async tidyInTurn(repository: Repository): Promise<void> {
    if (!repository.untidy || repository.busy || this.closed) return;
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

  /** For the watch, so it settles everything by itself: what cannot be read is forgotten, and readers fail. */
  private async refresh(repository: Repository): Promise<void> {
    try {
      await repository.reload();
      await this.tidyInTurn(repository);
    } catch (error) {
      this.warn(error, 'cannot read the refs of a repository any more');
      await repository.forget().catch((failure) => this.warn(failure, 'could not pass on that refs moved'));
      this.dropIfIdle(repository);
    }
  }

  /** Built aside and moved into place, so that a crash leaves the whole repository or rubbish in `.tmp`. */
  private async build(gitdir: string, settings: RepositorySettings, draft: DraftInput): Promise<void> {
    const site = join(this.root, TEMPORARY, randomUUID());
    try {
      await makeSkeleton(this.fs, site, settings);
      const commit = await this.tools.versions.writeDraft(site, draft, null);
      await this.fs.writeFile(join(site, draftRefName(draft.version)), `${commit}\n`);
      await this.fs.rename(site, gitdir);
    } catch (error) {
      await this.fs.discard(site).catch(() => undefined);
      const errno = errnoOf(error);
      throw errno === 'ENOTEMPTY' || errno === 'EEXIST' ? nameTaken() : error;
    } finally {
      this.packs.drop(site);
    }
  }

  private warn(error: unknown, message: string): void {
    this.log.warn({ err: error }, message);
  }
}

function nameTaken(): Error {
  return conflict('name_taken', 'There is a repository of that name already.');
}
