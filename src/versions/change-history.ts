/**
 * The story of the change sets in `changes.git`: a branch `change/<id>` for each, with one commit for each edit, approval and
 * state, and `main`, into which the applied ones are merged. The repository holds no versions, so none of their rules apply
 * to it. It is made when first needed.
 */

import type { Db } from '../db/database.ts';
import { isOutcomeUnknown } from '../db/errors.ts';
import type { RefsChange } from '../db/git-tables.ts';
import { repositoryLock } from '../domain/lock-names.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { readCommit, SERVER, sign } from '../git/commits.ts';
import { damagedRepository, guardDisk } from '../git/disk-errors.ts';
import type { PackCaches } from '../git/object-caches.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { OtherMoves, RefBackend } from '../git/ref-backend.ts';
import { MAIN } from '../git/ref-reader.ts';
import type { PeeledMove } from '../git/refs.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import { writeTree } from '../git/tree.ts';
import { CHANGES, type FileContent, type Person } from '../git/types.ts';
import { conflict, internal, shuttingDown } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import { inTurn } from '../lib/request-parts.ts';
import type { RepositoryPlace } from './repository-place.ts';
import type { NotingWrite } from './types.ts';

export interface ChangeHistoryTools {
  root: string;
  place: RepositoryPlace;
  objects: ObjectStore;
  packs: PackCaches;
  fs: AtomicFs;
  locks: Locks;
  /** Called before refs are moved. It rejects when others could not be notified. */
  beforeWrite(): Promise<void>;
}

/** A state of a set, as its branch tells it. */
export interface ToldState {
  /** Who brought it about, and when in epoch milliseconds. */
  person: Person;
  at: number;
  /** One line, without control characters. */
  subject: string;
  /** What stands below it. */
  body?: string;
  /** All files of the branch. */
  files: readonly FileContent[];
}

const BRANCHES = 'refs/heads/change/';

export class ChangeHistory {
  private readonly tools: ChangeHistoryTools;
  private readonly gitdir: string;
  private readonly refs: RefBackend;
  private readonly running = new Set<Promise<unknown>>();
  private isSwept = false;
  private isClosed = false;

  constructor(tools: ChangeHistoryTools) {
    this.tools = tools;
    this.gitdir = gitdirOf(tools.root, CHANGES);
    this.refs = tools.place.refsOf(CHANGES, this.gitdir);
  }

  /** Whether there is a repository yet. */
  has(): Promise<boolean> {
    return this.tools.place.has(CHANGES);
  }

  /** The commit of `main`; null before the first set. */
  mainHead(): Promise<string | null> {
    return guardDisk(async () => {
      await this.refs.isFresh(undefined);
      return this.refs.get(MAIN);
    });
  }

  /** Whether a commit is on the line of `main`. */
  async isOnMain(commit: string): Promise<boolean> {
    const { objects } = this.tools;
    for (let oid = await this.mainHead(); oid !== null; ) {
      if (oid === commit) return true;
      const at: string = oid;
      const [parent] = (await guardDisk(() => readCommit(objects, this.gitdir, at))).parent;
      oid = parent ?? null;
    }
    return false;
  }

  /** The tips of all branches of sets, by their ids. */
  async tips(): Promise<ReadonlyMap<number, string>> {
    if (!(await this.has())) return new Map();
    const { loose, packed } = await guardDisk(() => this.refs.read(undefined));
    const all = [...packed.refs, ...[...loose].map(([name, { oid }]) => [name, oid] as const)];
    return new Map(
      all.flatMap(([name, oid]) => {
        const id = name.startsWith(BRANCHES) ? Number(name.slice(BRANCHES.length)) : Number.NaN;
        return Number.isSafeInteger(id) ? [[id, oid] as const] : [];
      }),
    );
  }

  /**
   * Runs `work` alone in the repository, on refs as they are now. It must not be nested, and no other lock of a repository
   * is taken inside. What it moves stays moved only if it succeeds, and if what it notes is committed.
   */
  async alone<T>(work: (story: HeldHistory) => Promise<T>): Promise<T> {
    if (this.isClosed) throw shuttingDown();
    const { locks, beforeWrite } = this.tools;
    const take = (held: () => Promise<T>) => locks.run(repositoryLock(CHANGES), held);
    const run = beforeWrite().then(() => inTurn(take, () => this.hold(work)));
    this.running.add(run);
    try {
      return await run;
    } finally {
      this.running.delete(run);
    }
  }

  /**
   * Brings the branches in a folder back to what the rows name: one that is ahead was moved by a process that ended before
   * its row was committed, so nobody was told of it. In PostgreSQL one commit makes both.
   * @param rows the tips of all sets that there are, by their ids
   */
  async settle(rows: ReadonlyMap<number, string>): Promise<void> {
    const stray = [...(await this.tips())].filter(([id, oid]) => rows.get(id) !== oid);
    if (stray.length === 0) return;
    const moves = stray.map(([id, from]) => {
      return { name: branchOf(id), from, to: rows.get(id) ?? null, peeled: null };
    });
    await this.alone((story) => story.move(moves));
  }

  /** Takes in what the feed of PostgreSQL tells. */
  learn(change: RefsChange): void {
    this.refs.learn(change);
  }

  /** Makes the next reader look at all refs. */
  invalidate(): void {
    this.refs.doubt();
  }

  /** Waits for the work that is under way. Further work is refused. */
  async close(): Promise<void> {
    this.isClosed = true;
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  private async hold<T>(work: (story: HeldHistory) => Promise<T>): Promise<T> {
    const { fs, objects } = this.tools;
    const { refs, gitdir } = this;
    await fs.discardAgain();
    await guardDisk(async () => refs.isFresh(undefined));
    await refs.rollBack();
    if (!refs.isThere) await this.make();
    else if (!this.isSwept) await refs.sweep();
    this.isSwept = true;
    const story = new HeldHistory({ objects, gitdir, refs });
    try {
      const result = await work(story);
      await story.noteRest();
      refs.confirm();
      return result;
    } catch (error) {
      if (isOutcomeUnknown(error)) refs.confirm();
      else await refs.rollBack();
      throw error;
    } finally {
      story.end();
    }
  }

  /** `main` begins with an empty commit, so that even the first set is merged into something. */
  private async make(): Promise<void> {
    const { place, objects, packs } = this.tools;
    const { gitdir, refs } = this;
    await guardDisk(() =>
      place.make({ ref: CHANGES, gitdir, refs }, null, async (site) => {
        const { tree } = await writeTree(objects, site, []);
        const author = sign(SERVER, Date.now());
        const message = 'Here the story of the change sets begins';
        const oid = await objects.writeCommit(site, { tree, parent: [], author, committer: author, message });
        packs.drop(site);
        return { name: MAIN, oid };
      }),
    );
  }
}

/** The repository in the hands of who holds its lock. */
export class HeldHistory {
  /** Where its objects are, for who writes a commit that no method here writes. */
  readonly site: { objects: ObjectStore; gitdir: string };
  private readonly refs: RefBackend;
  private hasEnded = false;

  constructor({ refs, ...site }: { objects: ObjectStore; gitdir: string; refs: RefBackend }) {
    this.site = site;
    this.refs = refs;
  }

  /** The commit of `main`. */
  get main(): string {
    const head = this.refs.get(MAIN);
    if (head === null) throw damagedRepository();
    return head;
  }

  /** The tip of the branch of a set; null where it has none. */
  tip(id: number): string | null {
    return this.refs.get(branchOf(id));
  }

  /**
   * Writes a state on top of the branch of a set, and flushes it. A new branch begins at `main`.
   * @returns the id of the commit
   */
  async commitState(id: number, state: ToldState): Promise<string> {
    const before = this.tip(id);
    const oid = await this.writeCommit([before ?? this.main], state);
    await this.move([{ name: branchOf(id), from: before, to: oid, peeled: null }]);
    return oid;
  }

  /** Writes a commit to which no ref leads yet, and flushes it. @returns its id */
  async writeCommit(parent: string[], { person, at, subject, body, files }: ToldState): Promise<string> {
    this.refuseEnded();
    const { objects, gitdir } = this.site;
    const { tree } = await guardDisk(() => writeTree(objects, gitdir, files));
    const author = sign(person, at);
    const message = body === undefined ? subject : `${subject}\n\n${body}`;
    return guardDisk(() => objects.writeCommit(gitdir, { tree, parent, author, committer: author, message }));
  }

  /**
   * Moves refs, all at once. On PostgreSQL the transaction that notes them makes the moves.
   * @throws HawserError conflict `versions_changed` where one has another value than its `from`
   */
  async move(moves: readonly PeeledMove[]): Promise<void> {
    this.refuseEnded();
    const [first] = moves;
    const isMoved = await guardDisk(() =>
      first !== undefined && moves.length === 1 ? this.refs.move(first) : this.refs.moveAll(moves),
    );
    if (isMoved) return;
    throw conflict('versions_changed', 'A branch was moved by another program meanwhile; try again.');
  }

  /**
   * Commits rows together with the moves: `write` makes a transaction, in which it calls `note`. Where it fails the moves are
   * taken back when the work ends.
   */
  async note(write: NotingWrite): Promise<void> {
    this.refuseEnded();
    await write((trx: Db) => this.refs.commit(trx));
    this.refs.settle();
    if (!this.refs.isTransactional) this.refs.confirm();
  }

  /** The tip of the branch that a commit of `main` has merged. */
  async mergedBy(merge: string): Promise<string> {
    const { objects, gitdir } = this.site;
    const [, branch] = (await guardDisk(() => readCommit(objects, gitdir, merge))).parent;
    if (branch === undefined) throw damagedRepository();
    return branch;
  }

  /** Moves that are made in one step with those of other repositories, by who holds the lock of all. */
  others(moves: readonly PeeledMove[]): OtherMoves {
    return { refs: this.refs, moves };
  }

  /** Commits moves that nobody has noted. */
  async noteRest(): Promise<void> {
    if (this.refs.isTransactional && this.refs.isHalfway)
      await this.note((note) => this.refs.transaction(note));
  }

  /** The lock is about to be given back. */
  end(): void {
    this.hasEnded = true;
  }

  private refuseEnded(): void {
    if (this.hasEnded) throw internal('internal_error', 'The story of the change sets is not held any more');
  }
}

/** The full name of the branch of a set. */
export const branchOf = (id: number) => `${BRANCHES}${id}`;
