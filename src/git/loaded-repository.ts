/** One repository in memory, of any kind: what was read of it, kept true to the disk, and the word that refs moved. */

import type { Log } from '../lib/log.ts';
import { Damage, isDamage } from './damage.ts';
import { guardDisk } from './disk-errors.ts';
import type { GitFolder } from './lock-file.ts';
import type { OnOperation } from './operations.ts';
import { isCurrent, oidOf, type RefSnapshot } from './ref-reader.ts';
import { moveRef, type RefMove } from './refs.ts';
import type { RepositoryProblem, RepositoryRef } from './types.ts';
import type { CheckTools } from './version-checks.ts';

export interface RepositoryTools extends CheckTools {
  log: Log;
  onRefsMoved: (repository: RepositoryRef, isAwaited: boolean) => Promise<void>;
  /** Resolves once it can be told of a move of refs, and rejects where it cannot. */
  beforeWrite: () => Promise<void>;
  leftBefore: () => number;
  onOperation: OnOperation;
}

/** Loose refs of versions that are left to lie; every look at the refs asks the disk for each of them. */
export const MAX_LOOSE = 100;
const BLOB = 'blob ';
const NONE: ReadonlySet<string> = new Set();

/** `Index` is what its readers get. */
export abstract class LoadedRepository<Index> {
  readonly ref: RepositoryRef;
  readonly folder: GitFolder;
  /** Whether somebody holds the lock; the holder itself looks at the disk and tells of changes. */
  busy = false;
  /** Whether this process has removed what an earlier one left unfinished in the folder. */
  swept = false;
  protected readonly tools: RepositoryTools;
  protected readonly damage: Damage;
  /** Whether a change of refs is still to be told of. */
  protected owed = false;
  /** Whether the log has been told that this cannot be told of at the moment. */
  private isDelayed = false;
  /** What the holder of the lock has moved, or tried to: it stands once the holder's work has come to its end. */
  private moves: RefMove[] = [];
  /** Oids of refs that look like versions and are none, of which the log has been told. */
  private readonly warned = new Set<string>();
  private loading: Promise<Index> | undefined;
  /** How often other processes have moved refs, and how many of these times the last reading knows of. */
  private outdatings = 0;
  private heeded = 0;

  constructor(tools: RepositoryTools, ref: RepositoryRef, gitdir: string) {
    this.tools = tools;
    this.ref = ref;
    const { fs, log, leftBefore } = tools;
    this.folder = { fs, log, gitdir, leftBefore };
    this.damage = new Damage(tools.log, ref);
  }

  /** The index as last read, without a look at the disk. */
  abstract get known(): Index | undefined;

  /** The index, unless another process has moved refs since it was read. */
  get current(): Index | undefined {
    return this.outdatings > this.heeded ? undefined : this.known;
  }

  /** Whether something is left to do that a publishing began. */
  abstract get untidy(): boolean;

  /** The refs as last read. */
  protected abstract get snapshot(): RefSnapshot | undefined;

  /** Why refs that look like versions are none, by full name. */
  protected abstract get faults(): ReadonlyMap<string, string>;

  /** Makes the refs what the published versions demand, under the lock only; whether there was anything to do. */
  abstract tidy(): Promise<boolean>;

  /** Packs the refs when they are many, under the lock only. */
  abstract pack(): Promise<void>;

  /** Reads what changed on the disk, and what `doubted` leads to whatever is known of it. */
  protected abstract read(doubted: ReadonlySet<string>): Promise<Index>;

  /** Drops what was read, and what a reading under way will bring. */
  protected abstract drop(): void;

  /** Whether there is nothing left to keep it in memory for. */
  get idle(): boolean {
    return this.known === undefined && !this.owed && !this.busy && !this.isHalfway;
  }

  /** Whether it is known not to be on the disk, which for some is as good as empty. */
  get absent(): boolean {
    return false;
  }

  /** Whether so many refs are loose that looking at them takes a while. */
  get crowded(): boolean {
    return (this.snapshot?.loose.size ?? 0) > MAX_LOOSE;
  }

  /** Whether the watch must read the refs again or repeat the word that they moved. Looks at the disk. */
  get stale(): boolean {
    if (this.busy || this.idle) return false;
    return this.owed || this.isHalfway || this.damage.isDue || !this.isCurrent;
  }

  /** Whether a holder of the lock has failed and what it had moved is not taken back yet. */
  get isHalfway(): boolean {
    return this.moves.length > 0;
  }

  /** Moves a ref in the name of the lock's holder, under the lock only; false when it has another value than `from`. */
  async move(name: string, from: string | null, to: string | null): Promise<boolean> {
    await this.beforeWrite();
    const move = { name, from, to };
    // Before it is tried: where the disk fails, it may have moved all the same.
    this.moves.push(move);
    return moveRef(this.folder, move);
  }

  /** Before anything is moved that cannot be told of, or cannot be taken back. */
  beforeWrite(): Promise<void> {
    return this.tools.beforeWrite();
  }

  /** The holder's work has come to its end. */
  settle(): void {
    this.moves = [];
  }

  /** The holder has failed: what it has moved goes back, the latest first. What cannot is left for the next holder. */
  async takeBack(): Promise<void> {
    if (!this.isHalfway) return;
    for (let move = this.moves.at(-1); move !== undefined; move = this.moves.at(-1)) {
      const { name, from, to } = move;
      // False: it never got there, or somebody else has moved it on.
      await guardDisk(() => moveRef(this.folder, { name, from: to, to: from }));
      this.moves.pop();
    }
    await this.wrote();
    await this.tellIfOwed();
  }

  /** Another process has moved refs, which the next who asks must see. */
  outdate(): void {
    this.outdatings += 1;
  }

  /** The index, read from the disk the first time; callers at the same time share one reading. */
  async load(): Promise<Index> {
    while (this.current === undefined) {
      this.loading ??= this.reload().finally(() => {
        this.loading = undefined;
      });
      const index = await this.loading;
      // A reading that began too early is shared by nobody who comes later.
      if (this.known === undefined) return index;
    }
    return this.current;
  }

  /** The index as it is on the disk now. */
  async fresh(): Promise<Index> {
    return this.current && this.isCurrent ? this.current : this.reload();
  }

  /** Reads the refs anew and, when they turn out moved, says so. */
  async reload(): Promise<Index> {
    const { outdatings } = this;
    const index = await this.read(NONE);
    this.heeded = Math.max(this.heeded, outdatings);
    await this.tellIfOwed();
    return index;
  }

  /** For the watch: reads the refs anew and, now and then, what could not be read. */
  async lookAgain(): Promise<void> {
    if (this.damage.isDue) await this.lookAtDamage();
    else await this.reload();
  }

  /** After a write of our own, before anything else may fail: what is known follows the disk. */
  async wrote(): Promise<void> {
    this.owed = true;
    await this.read(NONE);
  }

  /** Says that refs moved and waits for it to be taken in; what fails stays owed and the watch tries again. */
  async tell(isAwaited = true): Promise<void> {
    // Down before the call: a change noticed while it runs must be told of again.
    this.owed = false;
    try {
      await this.tools.onRefsMoved(this.ref, isAwaited);
      this.isDelayed = false;
    } catch (error) {
      this.owed = true;
      throw error;
    }
  }

  /** Does what `tell` does, but waits for nothing: what fails stays owed. */
  async tellWhenPossible(): Promise<void> {
    this.owed = true;
    await this.tellIfOwed();
  }

  /** After the repository's end, or when it cannot be read any more. */
  async forget(): Promise<void> {
    this.drop();
    this.damage.names.clear();
    this.owed = true;
    await this.tell();
  }

  async blob(oid: string): Promise<Buffer> {
    return this.noting(BLOB + oid, () => this.readBlob(oid));
  }

  get problems(): RepositoryProblem[] {
    const faults = [...this.faults].map(([ref, reason]) => ({ ref, reason }));
    const damage = [...this.damage.names].map((ref) => ({ ref, reason: 'repository_damaged' }));
    return [...faults, ...damage].map((problem) => ({ repository: this.ref, ...problem }));
  }

  /** Reads something by the name under which its damage is known. */
  protected async noting<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      const read = await work();
      if (this.damage.names.has(name)) await this.lookAtDamage();
      return read;
    } catch (error) {
      if (isDamage(error)) this.damage.found(name, error);
      throw error;
    }
  }

  /** A blob may have been of a version that is gone; if it was not, the next who asks for it finds out. */
  protected forgiveBlobs(): void {
    for (const name of this.damage.names) if (name.startsWith(BLOB)) this.damage.cured(name);
  }

  protected warnOfFaults(): void {
    const { faults, snapshot } = this;
    for (const [ref, reason] of faults) {
      const oid = (snapshot && oidOf(snapshot, ref)) ?? '';
      if (this.warned.has(oid)) continue;
      this.warned.add(oid);
      this.tools.log.warn({ repository: this.ref, ref, reason }, 'a tag or draft branch is no version');
    }
  }

  protected warn(error: unknown, message: string): void {
    this.tools.log.warn({ err: error, repository: this.ref }, message);
  }

  protected get isCurrent(): boolean {
    return this.snapshot !== undefined && isCurrent(this.folder.fs, this.folder.gitdir, this.snapshot);
  }

  /** Tries again what could not be read, and whether it is a version's where that was not known. */
  private async lookAtDamage(): Promise<void> {
    const names = new Set(this.damage.names);
    this.damage.trying();
    for (const name of names) {
      if (!name.startsWith(BLOB)) continue;
      const blob = await this.readBlob(name.slice(BLOB.length)).catch(() => null);
      if (blob !== null) this.damage.cured(name);
    }
    await this.read(names);
    await this.tellIfOwed();
  }

  private readBlob(oid: string): Promise<Buffer> {
    return this.tools.objects.readBytes(this.folder.gitdir, oid, 'blob');
  }

  /** Nobody waits for this word, so its failure is no failure of the reading. */
  private async tellIfOwed(): Promise<void> {
    if (!this.owed) return;
    await this.tell(false).catch((error) => {
      if (!this.isDelayed) this.warn(error, 'could not pass on that refs moved; this is tried again');
      this.isDelayed = true;
    });
  }
}
