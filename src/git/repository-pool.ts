/**
 * The repositories in memory, of one sort: one lock for each, a watch over their refs, and
 * the work on them that is under way.
 */

import pLimit from 'p-limit';
import { repositoryLock } from '../domain/lock-names.ts';
import { HawserError } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { guardDisk } from './disk-errors.ts';
import type { LoadedRepository } from './loaded-repository.ts';
import type { PackCaches } from './pack-cache.ts';
import { gitdirOf } from './repository-layout.ts';
import { sweepLeftOvers } from './sweep.ts';
import type { RepositoryProblem, RepositoryRef } from './types.ts';
import { Watch } from './watch.ts';

const CONCURRENT_REFRESHES = 8;

export interface PoolTools {
  root: string;
  fs: AtomicFs;
  log: Log;
  packs: PackCaches;
  locks: Locks;
  /** Resolves once it can be told of a move of refs, and rejects where it cannot. */
  beforeWrite: () => Promise<void>;
}

export class RepositoryPool<R extends LoadedRepository<unknown>> {
  private readonly tools: PoolTools;
  private readonly make: (ref: RepositoryRef, gitdir: string) => R;
  private readonly repositories = new Map<string, R>();
  private readonly running = new Set<Promise<unknown>>();
  private readonly refreshing = new Set<R>();
  private readonly refreshes = pLimit(CONCURRENT_REFRESHES);
  private readonly watch: Watch<R>;
  private closed = false;

  constructor(tools: PoolTools, make: (ref: RepositoryRef, gitdir: string) => R) {
    this.tools = tools;
    this.make = make;
    this.watch = new Watch(
      () => this.repositories.values(),
      (repository) => this.startRefresh(repository),
    );
  }

  get problems(): RepositoryProblem[] {
    return [...this.repositories.values()].flatMap((repository) => repository.problems);
  }

  start(): void {
    this.watch.start();
  }

  /** Waits for the work under way; further work is refused. */
  async close(): Promise<void> {
    this.closed = true;
    this.watch.stop();
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  /** The repository if it is in memory. */
  peek(ref: RepositoryRef): R | undefined {
    return this.repositories.get(gitdirOf(this.tools.root, ref));
  }

  /** Another process has moved refs of the repository. */
  outdate(ref: RepositoryRef): void {
    this.peek(ref)?.outdate();
  }

  outdateAll(): void {
    for (const repository of this.repositories.values()) repository.outdate();
  }

  async reading<T>(ref: RepositoryRef, work: (repository: R) => Promise<T>): Promise<T> {
    const repository = this.repositoryOf(ref);
    try {
      return await work(repository);
    } finally {
      this.dropIfIdle(repository);
    }
  }

  /** Runs `work` alone among all that hold the lock; not to be nested. */
  async locked<T>(ref: RepositoryRef, work: (repository: R) => Promise<T>): Promise<T> {
    this.refuseClosed();
    return this.track(this.inTurn(ref, work));
  }

  /** As `locked`, on a repository that is read fresh and tidied first, and packed afterwards when it needs it. */
  async exclusive<T>(ref: RepositoryRef, work: (repository: R) => Promise<T>): Promise<T> {
    this.refuseClosed();
    const tidied = (repository: R) => this.tidied(repository, work);
    return this.track(this.tools.beforeWrite().then(() => this.inTurn(ref, tidied)));
  }

  /**
   * Not while the lock is held or waited for: the holder may be the very caller, and tidies when it takes the lock;
   * and to wait while holding another repository's lock could be for ever. A free lock is taken without a wait.
   */
  async tidyInTurn(repository: R): Promise<void> {
    if ((!repository.untidy && !repository.isHalfway) || this.closed) return;
    const { ref } = repository;
    const tidy = () => this.holding(ref, (held) => this.tidied(held, async () => undefined));
    await this.track(this.tools.locks.runIfFree(repositoryLock(ref), tidy)).catch((error) =>
      this.warn(error, 'could not tidy the refs of a repository'),
    );
  }

  private refuseClosed(): void {
    if (this.closed) throw new HawserError('unavailable', 'shutting_down', 'The server is shutting down.');
  }

  private inTurn<T>(ref: RepositoryRef, work: (repository: R) => Promise<T>): Promise<T> {
    return this.tools.locks.run(repositoryLock(ref), () => this.holding(ref, work));
  }

  /** Under the lock. */
  private async holding<T>(ref: RepositoryRef, work: (repository: R) => Promise<T>): Promise<T> {
    const repository = this.repositoryOf(ref);
    repository.busy = true;
    try {
      return await work(repository);
    } finally {
      repository.busy = false;
      this.dropIfIdle(repository);
    }
  }

  private async tidied<T>(repository: R, work: (repository: R) => Promise<T>): Promise<T> {
    await this.prepare(repository);
    try {
      const result = await work(repository);
      repository.settle();
      await repository.tidy();
      return result;
    } catch (error) {
      await repository.takeBack().catch((failure) => this.warn(failure, 'could not take back a change yet'));
      throw error;
    } finally {
      if (repository.crowded) this.startPacking(repository);
    }
  }

  private repositoryOf(ref: RepositoryRef): R {
    const gitdir = gitdirOf(this.tools.root, ref);
    const known = this.repositories.get(gitdir);
    if (known) return known;
    const repository = this.make({ kind: ref.kind, name: ref.name }, gitdir);
    this.repositories.set(gitdir, repository);
    return repository;
  }

  private dropIfIdle(repository: R): void {
    const { gitdir } = repository.folder;
    if (!repository.idle || this.repositories.get(gitdir) !== repository) return;
    this.repositories.delete(gitdir);
    this.tools.packs.drop(gitdir);
  }

  private async track<T>(run: Promise<T>): Promise<T> {
    this.running.add(run);
    try {
      return await run;
    } finally {
      this.running.delete(run);
    }
  }

  private async prepare(repository: R): Promise<void> {
    await this.tools.fs.discardAgain();
    await repository.fresh();
    await repository.takeBack();
    if (!repository.swept && !repository.absent) {
      repository.swept = true;
      await sweepLeftOvers(this.tools.fs, repository.folder.gitdir).catch((error) =>
        this.warn(error, 'could not sweep a repository'),
      );
    }
    if (await repository.tidy()) await repository.tellWhenPossible();
  }

  private startRefresh(repository: R): void {
    if (this.refreshing.has(repository)) return;
    this.refreshing.add(repository);
    const refresh = this.refreshes(() => this.refresh(repository));
    void this.track(refresh).finally(() => this.refreshing.delete(repository));
  }

  /** After the answer to whoever made the refs too many; the next in line for the lock waits for it. */
  private startPacking({ ref }: R): void {
    if (this.closed) return;
    void this.locked(ref, (repository) => guardDisk(() => repository.pack())).catch((error) =>
      this.warn(error, 'could not pack the refs of a repository'),
    );
  }

  /** For the watch, so it settles everything by itself: what cannot be read is forgotten, and readers fail. */
  private async refresh(repository: R): Promise<void> {
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
    this.tools.log.warn({ err: error }, message);
  }
}
