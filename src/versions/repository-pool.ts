/** The repositories in memory: a lock for each, a watch over their refs, and the work that is under way. */

import pLimit from 'p-limit';
import { isOutcomeUnknown } from '../db/errors.ts';
import type { RefsChange } from '../db/git-tables.ts';
import { repositoryLock } from '../domain/lock-names.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { guardDisk } from '../git/disk-errors.ts';
import type { PackCaches } from '../git/object-caches.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import type { RepositoryRef } from '../git/types.ts';
import { Watch } from '../git/watch.ts';
import { HawserError, internal, shuttingDown } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import { inTurn } from '../lib/request-parts.ts';
import type { Repository } from './repository.ts';
import type { RepositoryProblem } from './types.ts';

const CONCURRENT_REFRESHES = 8;

export interface PoolTools {
  root: string;
  fs: AtomicFs;
  log: Log;
  packs: PackCaches;
  locks: Locks;
  /** Called before refs are moved. It rejects when others could not be notified. */
  beforeWrite: () => Promise<void>;
}

export class RepositoryPool {
  private readonly tools: PoolTools;
  private readonly make: (ref: RepositoryRef, gitdir: string) => Repository;
  private readonly below: RepositoryPool | null;
  private readonly repositories = new Map<string, Repository>();
  private readonly running = new Set<Promise<unknown>>();
  private readonly refreshing = new Set<Repository>();
  private readonly refreshes = pLimit(CONCURRENT_REFRESHES);
  private readonly watch: Watch<Repository>;
  private closed = false;

  /** @param below has the repositories that are not put into this one, for reading */
  constructor(
    tools: PoolTools,
    make: (ref: RepositoryRef, gitdir: string) => Repository,
    below: RepositoryPool | null = null,
  ) {
    this.tools = tools;
    this.make = make;
    this.below = below;
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

  /** Waits for the work that is under way. Further work is refused. */
  async close(): Promise<void> {
    this.closed = true;
    this.watch.stop();
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  /** The repository if it is in memory. */
  peek(ref: RepositoryRef): Repository | undefined {
    return this.repositories.get(gitdirOf(this.tools.root, ref)) ?? this.below?.peek(ref);
  }

  /** Puts in a repository that a holder of its lock has staged. */
  put(repository: Repository): void {
    this.repositories.set(repository.gitdir, repository);
  }

  /** Makes the next readers look at the disk: of this repository, or of all if none is named. */
  invalidate(ref?: RepositoryRef): void {
    if (ref) this.peek(ref)?.invalidate();
    else for (const repository of this.repositories.values()) repository.invalidate();
  }

  /** Takes in what the feed tells of a repository. */
  learn(change: RefsChange & RepositoryRef): void {
    const repository = this.peek(change);
    repository?.learn(change);
    // The holder of the lock may be making another one of the name, of which the feed tells later.
    if (repository === undefined || repository.busy || change.after !== null) return;
    repository.drop();
    this.dropIfIdle(repository);
  }

  async reading<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    if (this.below && !this.repositories.has(gitdirOf(this.tools.root, ref)))
      return this.below.reading(ref, work);
    const repository = this.repositoryOf(ref);
    try {
      return await work(repository);
    } finally {
      this.dropIfIdle(repository);
    }
  }

  /** Runs `work` alone, under the repository's lock. It must not be nested. */
  async locked<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    this.refuseClosed();
    return this.track(this.inTurn(ref, work));
  }

  /** Like `locked`, but the repository is read and tidied first, and its refs are packed afterwards if need be. */
  async exclusive<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    this.refuseClosed();
    const tidied = (repository: Repository) => this.tidied(repository, work);
    return this.track(this.tools.beforeWrite().then(() => this.inTurn(ref, tidied)));
  }

  /**
   * Tidies the repository if its lock is free. If it is held, the holder may be the caller itself, and has tidied when
   * it took the lock. To wait for it while holding another repository's lock could last for ever.
   */
  async tidyInTurn(repository: Repository): Promise<void> {
    if ((!repository.untidy && !repository.refs.isHalfway) || this.closed) return;
    const { ref } = repository;
    const tidy = () => this.holding(ref, (held) => this.tidied(held, async () => undefined));
    await this.track(this.tools.locks.runIfFree(repositoryLock(ref), tidy)).catch((error) =>
      this.warn(error, 'could not tidy the refs of a repository'),
    );
  }

  private refuseClosed(): void {
    if (this.closed) throw shuttingDown();
  }

  private inTurn<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    const take = (held: () => Promise<T>) => this.tools.locks.run(repositoryLock(ref), held);
    return inTurn(take, () => this.holding(ref, work));
  }

  private async holding<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    const repository = this.repositoryOf(ref);
    repository.busy = true;
    try {
      return await work(repository);
    } finally {
      repository.busy = false;
      this.dropIfIdle(repository);
    }
  }

  private async tidied<T>(repository: Repository, work: (repository: Repository) => Promise<T>): Promise<T> {
    await this.prepare(repository);
    try {
      const result = await work(repository);
      repository.refs.confirm();
      if (!repository.refs.isTransactional) await repository.tidy();
      return result;
    } catch (error) {
      // Whether the work was recorded is found out by the next holder, who records it if it was not.
      if (isOutcomeUnknown(error)) repository.refs.confirm();
      await repository.rollBack().catch((failure) => this.warn(failure, 'could not undo a change yet'));
      throw error;
    } finally {
      if (repository.crowded) this.startPacking(repository);
    }
  }

  private repositoryOf(ref: RepositoryRef): Repository {
    const gitdir = gitdirOf(this.tools.root, ref);
    const known = this.repositories.get(gitdir);
    if (known) return known;
    if (this.below) throw internal('internal_error', 'The repository is not held by this step');
    const repository = this.make({ kind: ref.kind, name: ref.name }, gitdir);
    this.repositories.set(gitdir, repository);
    return repository;
  }

  private dropIfIdle(repository: Repository): void {
    const { gitdir } = repository;
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

  private async prepare(repository: Repository): Promise<void> {
    await this.tools.fs.discardAgain();
    await repository.fresh();
    await repository.rollBack();
    if (!repository.swept && !repository.absent) {
      repository.swept = true;
      await repository.refs.sweep().catch((error) => this.warn(error, 'could not sweep a repository'));
    }
    if (!(await repository.tidy())) return;
    repository.notifier.isDue = true;
    await repository.notifier.notifyIfDue();
  }

  private startRefresh(repository: Repository): void {
    if (this.refreshing.has(repository)) return;
    this.refreshing.add(repository);
    const refresh = this.refreshes(() => this.refresh(repository));
    void this.track(refresh).finally(() => this.refreshing.delete(repository));
  }

  /** Runs after the caller who made too many refs has an answer. The next in line for the lock waits for it. */
  private startPacking({ ref }: Repository): void {
    if (this.closed) return;
    void this.locked(ref, (repository) => guardDisk(() => repository.pack())).catch((error) =>
      this.warn(error, 'could not pack the refs of a repository'),
    );
  }

  /** For the watch, so it never throws: a repository that cannot be read is forgotten, and its readers fail. */
  private async refresh(repository: Repository): Promise<void> {
    try {
      await repository.lookAgain();
      await this.tidyInTurn(repository);
    } catch (error) {
      // What is known holds until PostgreSQL answers again.
      if (error instanceof HawserError && error.kind === 'unavailable') return;
      this.warn(error, 'cannot read the refs of a repository any more');
      await repository.forget().catch((failure) => this.warn(failure, 'could not pass on that refs moved'));
      this.dropIfIdle(repository);
    }
  }

  private warn(error: unknown, message: string): void {
    this.tools.log.warn({ err: error }, message);
  }
}
