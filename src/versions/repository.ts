/** One repository in memory: the versions that were read from its refs, and how they follow the disk. */

import { isOutcomeUnknown } from '../db/errors.ts';
import type { RefsChange } from '../db/git-tables.ts';
import { guardDisk, missingRepository } from '../git/disk-errors.ts';
import { History } from '../git/history.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { allRefs } from '../git/ref-list.ts';
import { StagedRefs } from '../git/staged-refs.ts';
import type { RepositoryRef } from '../git/types.ts';
import { notFound } from '../lib/errors.ts';
import type { BranchState, BranchTools, BranchUpkeep } from './branch-upkeep.ts';
import { BLOB, CorruptionTracker } from './corruption-tracker.ts';
import { KINDS, type VersionKind } from './kinds.ts';
import { MainBranch } from './main-branch.ts';
import { pushedFacts, recordMoves, strayRecords } from './push-records.ts';
import { type CheckTools, RefReader } from './ref-checks.ts';
import { RefNotifier } from './ref-notifier.ts';
import { formerTags } from './renamed-scopes.ts';
import { type LeftOver, RepositoryIndex } from './repository-index.ts';
import { ScopeTypeBranches } from './scope-type-branch.ts';
import type { GitStoreOptions, NotingWrite, RepositoryProblem, VersionDetails, VersionRef } from './types.ts';
import { isContent, type VersionContent } from './version-objects.ts';

/** A repository whose moves are kept. */
export interface StagedRepository {
  repository: Repository;
  refs: StagedRefs;
}

export type RepositoryTools = CheckTools &
  BranchTools &
  Required<Pick<GitStoreOptions, 'log' | 'onOperation' | 'onRefsMoved' | 'beforeWrite'>> &
  Pick<GitStoreOptions, 'admit'>;

/** Every look at the refs asks the disk for each loose one. */
const MAX_LOOSE = 100;

export class Repository {
  readonly ref: RepositoryRef;
  readonly kind: VersionKind;
  /** Its folder, which names it wherever its refs and objects are. */
  readonly gitdir: string;
  /** Must be used under the lock only, apart from reading. */
  readonly refs: RefBackend;
  readonly notifier: RefNotifier;
  readonly upkeep: BranchUpkeep;
  /** Whether somebody holds the lock. The holder looks at the disk itself and notifies of changes. */
  busy = false;
  /** Whether this process has removed what an earlier one left unfinished in the folder. */
  swept = false;
  private readonly tools: RepositoryTools;
  private readonly corruption: CorruptionTracker;
  private readonly reader: RefReader;
  private state: BranchState | undefined;
  private drops = 0;
  /** One reading follows the other, because each changes the index in place. */
  private lastReading: Promise<unknown> = Promise.resolve();
  private loading: Promise<RepositoryIndex> | undefined;
  /** How often other processes have moved refs, and how many of these moves the last reading has seen. */
  private invalidations = 0;
  private seenInvalidations = 0;

  constructor(
    tools: RepositoryTools,
    ref: RepositoryRef,
    { gitdir, refs }: { gitdir: string; refs: RefBackend },
  ) {
    this.tools = tools;
    this.ref = ref;
    this.kind = KINDS[ref.kind];
    this.gitdir = gitdir;
    this.refs = refs;
    this.corruption = new CorruptionTracker(tools.log, ref, {
      readBlob: (oid) => this.readBlob(oid),
      readRefs: async (names) => {
        await this.read(names);
        await this.notifier.notifyIfDue();
      },
    });
    this.reader = new RefReader(tools, this, this.corruption);
    this.notifier = new RefNotifier(ref, refs, tools);
    this.upkeep = this.kind.hasSeries ? new ScopeTypeBranches(tools, this) : new MainBranch(refs);
  }

  /** The versions as last read, without a look at the disk. */
  get known(): RepositoryIndex | undefined {
    return this.state?.index;
  }

  /** The versions, unless another process has moved refs since they were read. */
  get current(): RepositoryIndex | undefined {
    return this.invalidations > this.seenInvalidations ? undefined : this.known;
  }

  /** Whether it is known not to be on the disk, and counts as empty. */
  get absent(): boolean {
    return this.state !== undefined && this.state.snapshot === undefined;
  }
  /** Whether a change that has begun is not finished: a branch is behind, or a ref is left that belongs to no version. */
  get untidy(): boolean {
    const { state } = this;
    if (state === undefined) return false;
    const left = state.index.leftBeside.length + strayRecords(state).length;
    return left > 0 || this.upkeep.isBehind(state);
  }

  /** Whether nothing requires it to stay in memory. */
  get idle(): boolean {
    return this.state === undefined && !this.notifier.isDue && !this.busy && !this.refs.isHalfway;
  }

  /** Whether so many refs are loose that looking at them takes a while. */
  get crowded(): boolean {
    return (this.state?.snapshot?.loose.size ?? 0) > MAX_LOOSE;
  }

  /** Whether the watch must read the refs again or repeat a notification. Looks at the disk. */
  get stale(): boolean {
    if (this.busy || this.idle) return false;
    return this.notifier.isDue || this.refs.isHalfway || this.corruption.isDue || !this.isCurrent;
  }

  get problems(): RepositoryProblem[] {
    const faults = [...(this.known?.faults ?? [])].map(([ref, reason]) => ({ ref, reason }));
    return [...faults, ...this.corruption.faults].map((fault) => ({ repository: this.ref, ...fault }));
  }

  /** Makes the next reader look at all refs, because another process has moved some. */
  invalidate(): void {
    this.refs.doubt();
    this.invalidations += 1;
  }

  /** Makes the next reader take in a change that the feed tells of. */
  learn(change: RefsChange): void {
    this.refs.learn(change);
    this.invalidations += 1;
  }

  /** Gives the versions, read from the disk the first time. Callers at the same time share one reading. */
  async load(): Promise<RepositoryIndex> {
    while (this.current === undefined) {
      this.loading ??= this.reload().finally(() => {
        this.loading = undefined;
      });
      const index = await this.loading;
      // The repository has been forgotten meanwhile. Nobody who comes later shares this reading.
      if (this.known === undefined) return index;
    }
    return this.current;
  }

  /** Gives the versions that are on the disk now. */
  async fresh(): Promise<RepositoryIndex> {
    const isFresh = await this.refs.isFresh(this.state?.snapshot);
    return this.current && isFresh ? this.current : this.reload();
  }

  /** Reads the refs again and notifies if they have moved. */
  async reload(): Promise<RepositoryIndex> {
    const { invalidations } = this;
    const index = await this.read();
    this.seenInvalidations = Math.max(this.seenInvalidations, invalidations);
    await this.notifier.notifyIfDue();
    return index;
  }

  /** For the watch: reads the refs again and, now and then, what could not be read before. */
  async lookAgain(): Promise<void> {
    if (this.corruption.isDue) await this.corruption.tryAgain();
    else await this.reload();
  }

  /** Reads all refs after a write of our own, or only `moved`. This must come before anything else that may fail. */
  async refreshAfterWrite(moved?: string): Promise<void> {
    this.notifier.isDue = true;
    await this.read(undefined, moved);
  }

  /**
   * Notes the moves of the lock's holder. Where that makes them, what follows from them belongs into the same transaction,
   * and after a failure none was made.
   * @param write makes the transaction; default: one of its own
   */
  async commit(write?: NotingWrite): Promise<void> {
    const { refs, notifier } = this;
    if (refs.isTransactional) await this.tidy();
    try {
      await (write ? notifier.notifyWith(write) : notifier.notify());
    } catch (error) {
      if (refs.isTransactional && !isOutcomeUnknown(error)) await this.rollBack().catch(() => undefined);
      throw error;
    }
  }

  /** Undoes the moves of a holder whose work has failed. */
  async rollBack(): Promise<void> {
    if (!this.refs.isHalfway) return;
    await this.refs.rollBack();
    // The repository itself was to be made.
    if (!this.refs.isThere) return this.drop();
    await this.refreshAfterWrite();
    await this.notifier.notifyIfDue();
  }

  /** Drops all that was read, when the repository is gone or cannot be read any more, and notifies. */
  async forget(): Promise<void> {
    this.drop();
    // The feed of PostgreSQL tells of it.
    if (!this.refs.isTransactional) await this.notifier.notify();
  }

  /**
   * This repository for who has many moves made in one step. Its moves are kept; nobody else sees them. To be called under
   * the lock.
   * @param tools those of the step, in which it is told that refs moved
   * @throws HawserError `repository_missing`
   */
  stage(tools: RepositoryTools): StagedRepository {
    const { state, ref, gitdir } = this;
    if (!state?.snapshot) throw missingRepository();
    const refs = new StagedRefs(this.refs, state.snapshot);
    const repository = new Repository(tools, ref, { gitdir, refs });
    repository.state = { index: new RepositoryIndex(this.kind, state.index), snapshot: refs.snapshot };
    repository.swept = true;
    return { repository, refs };
  }

  /**
   * Takes over the versions of a staged one, at the moment at which its moves are made.
   * @returns a function that takes that back
   */
  adopt({ state }: Repository): () => void {
    const before = this.state;
    const install = (installed: BranchState | undefined) => {
      this.state = installed;
      this.upkeep.forget();
    };
    install(state);
    return () => install(before);
  }

  /** Drops all that was read, when somebody else has removed the repository and has notified. */
  drop(): void {
    this.state = undefined;
    this.drops += 1;
    this.upkeep.forget();
    this.corruption.names.clear();
  }

  /**
   * Makes the branches what the published versions demand, and drops what is left beside versions that are gone. To be
   * called under the lock. A failure is logged only, because the versions are published whatever becomes of the branches.
   * @returns whether anything was done
   */
  async tidy(): Promise<boolean> {
    const { state } = this;
    if (!state || !this.untidy) return false;
    const dropDrafts = async (lefts: readonly LeftOver[]) => {
      const moves = lefts.flatMap(({ draft: { name, oid } }) => [
        { name, from: oid, to: null, peeled: null },
        ...recordMoves(this, name, null),
      ]);
      const isDone = lefts.length > 1 && (await this.refs.moveAllForGood(moves));
      if (!isDone) for (const move of moves) await this.refs.moveForGood(move);
      for (const left of lefts) state.index.removeLeftOver(left);
    };
    const dropBeside = async () => {
      for (const { name, oid } of state.index.leftBeside) {
        await this.refs.moveForGood({ name, from: oid, to: null });
        state.index.removeBeside({ name, oid });
      }
      const strays = strayRecords(state);
      for (const { name, oid } of strays) await this.refs.moveForGood({ name, from: oid, to: null });
      strays.length = 0;
      return true;
    };
    const failed = (err: unknown) => {
      this.tools.log.warn({ err, repository: this.ref }, 'could not tidy the refs of a repository');
      return false;
    };
    // They run at once, because each waits for flushes of its own.
    const done = [this.upkeep.tidy(state, dropDrafts, failed), dropBeside().catch(failed)];
    return (await Promise.all(done)).includes(true);
  }

  /** Packs the refs of versions when many are loose. To be called under the lock. */
  async pack(): Promise<void> {
    const { index, snapshot } = this.state ?? {};
    const refs = (snapshot && index?.packableRefs(snapshot.loose)) ?? [];
    if (refs.length > MAX_LOOSE / 2) await this.refs.pack(refs);
  }

  /**
   * Removes versions, under the lock only. What grew from one of them keeps its commits; its history ends where a
   * removed version would follow.
   */
  async removeVersions(versions: readonly VersionRef[]): Promise<void> {
    const { state, gitdir, tools } = this;
    if (!state?.snapshot) throw missingRepository();
    const { objects } = tools;
    const history = new History(objects, gitdir, await this.refs.shallow());
    const refs = this.kind.hasSeries ? allRefs(state.snapshot) : new Map<string, string>();
    const former = await formerTags({ objects, gitdir, refs }, versions);
    const ends = await this.upkeep.endsOfHistory(state, versions, history, former);
    await this.refs.removeForGood(ends, [...versions, ...former.gone], state.index.besides(versions));
  }

  async details(ref: VersionRef): Promise<VersionDetails> {
    const { version, status, name, withdrawn, rollout } = ref;
    const { gitdir } = this;
    const content = await this.corruption.tracking(name, () =>
      this.tools.versions.read(gitdir, this.kind, ref),
    );
    if (!isContent(content)) throw notFound('There is no such version.');
    const { stated: _stated, tag: _tag, parent: _parent, nodeId: _nodeId, ...details } = content;
    const kept = await this.keptTag(ref);
    const own = this.kind.inheritsEntryPoints ? (kept ?? content).entryPoint : '';
    const entryPoint = own ?? (await this.load()).requireInheritedEntryPoint(version);
    const { signature } = kept ?? content;
    return { version, status, ...details, ...pushedFacts(ref), entryPoint, signature, withdrawn, rollout };
  }

  /** What the tag says that was pushed to publish a draft, where there is one: by it the draft is published. */
  private async keptTag({ series, pushed, status }: VersionRef): Promise<VersionContent | null> {
    if (status === 'Published' || pushed?.tag === undefined) return null;
    const tag = { series, status: 'Published', oid: pushed.tag } as const;
    const content = await this.tools.versions.read(this.gitdir, this.kind, tag);
    return isContent(content) ? content : null;
  }

  async blob(oid: string): Promise<Buffer> {
    return this.corruption.tracking(BLOB + oid, () => this.readBlob(oid));
  }

  private get isCurrent(): boolean {
    return this.state !== undefined && this.refs.isCurrent(this.state.snapshot);
  }

  /** Reads what changed on the disk, and also what the refs in `doubted` lead to. */
  private read(doubted: ReadonlySet<string> = new Set(), moved?: string): Promise<RepositoryIndex> {
    const reading = this.lastReading.then(() => guardDisk(() => this.readNow(doubted, moved)));
    this.lastReading = reading.catch(() => undefined);
    return reading;
  }

  private async readNow(doubted: ReadonlySet<string>, moved?: string): Promise<RepositoryIndex> {
    const { drops } = this;
    const before = this.state;
    const snapshot = await this.reader.readRefs(before?.snapshot, moved);
    // What was read before does not hold for a repository that was made or removed meanwhile.
    const base = before && (before.snapshot === undefined) === (snapshot === undefined) ? before : undefined;
    const index = base?.index ?? new RepositoryIndex(this.kind);
    const checks = await this.reader.checkRefs(snapshot, base?.snapshot, doubted);
    const hasMoved = checks.size > 0 && (await index.apply(checks, this.reader.checks));
    if (drops !== this.drops) return index;
    this.state = { index, snapshot };
    const gone = [...checks].flatMap(([name, check]) => (check === null ? [name] : []));
    for (const name of gone) this.corruption.repaired(name);
    if (snapshot && checks.size > 0) await this.reader.checks.save(() => index.allChecks());
    if (snapshot) this.reader.warnOfFaults(this.ref, index.faults, snapshot);
    if (!before || (!hasMoved && base !== undefined)) return index;
    // Whoever moves refs in PostgreSQL has notified already.
    if (!this.refs.isTransactional) this.notifier.isDue = true;
    // A corrupted blob may be one of a version that is gone. If not, the next reader of it finds out.
    if (gone.length > 0) this.corruption.repairedAll(BLOB);
    return index;
  }

  private readBlob(oid: string): Promise<Buffer> {
    return this.tools.objects.readBytes(this.gitdir, oid, 'blob');
  }
}
