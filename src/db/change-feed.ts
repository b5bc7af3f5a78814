/**
 * Tells the caches of this process what was changed, by itself or by another process on the same database. A check costs
 * some 2 µs while nothing was committed, and is made once per turn of the event loop.
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';

export type ChangeKind = 'certificates' | 'scopes' | 'configurations' | 'composites' | 'parameters' | 'nodes';

export interface ChangeListener {
  /**
   * @param key is a certificate's thumbprint, the id of a scope type or value, or the name of a configuration or composite
   *   whose refs have moved, or the number of a node that was deleted
   */
  onChange(kind: ChangeKind, key: string): void;
  /** Everything may have changed, because some changes are no longer listed. */
  onLost(): void;
}

type Change = [seq: number, kind: ChangeKind, key: string];
type Position = [generation: number, accessGeneration: number, oldest: number, newest: number];

const SELECT_POSITION = `select value, (select value from access_generation where id = 1), coalesce((select seq from changes order by seq limit 1), 0),
    coalesce((select seq from changes order by seq desc limit 1), 0)
  from generation where id = 1`;

export class ChangeFeed {
  private readonly dataVersion: Statement<[], number>;
  private readonly position: Statement<[], Position>;
  private readonly changes: Statement<[number], Change>;
  private readonly listeners: ChangeListener[] = [];
  private seenVersion = -1;
  private seenChange: number;
  private seenGeneration = 0;
  private seenAccessGeneration = 0;
  private isCurrent = false;

  /** @param handle must not write: SQLite tells a handle of the commits of all other handles only */
  constructor(handle: SqliteHandle) {
    this.dataVersion = handle.prepare<[], number>('pragma data_version').pluck();
    this.position = handle.prepare<[], Position>(SELECT_POSITION).raw();
    this.changes = handle
      .prepare<[number], Change>('select seq, kind, key from changes where seq > ? order by seq')
      .raw();
    this.seenChange = this.position.get()?.[3] ?? 0;
  }

  /** The generation at the last check. */
  get generation(): number {
    return this.seenGeneration;
  }

  /** The number of the last change that listeners were told of. It rises with each of them. */
  get lastChange(): number {
    return this.seenChange;
  }

  /** Rises with every change of access rights: of roles, grants and users, and when credentials are ended. */
  get accessGeneration(): number {
    return this.seenAccessGeneration;
  }

  subscribe(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  /**
   * Tells the caches of all that was committed before this turn of the event loop. An answer that acknowledges a write
   * leaves its process after the commit, so a client that has the answer is heard in a later turn, in every process.
   */
  catchUp(): void {
    if (this.isCurrent) return;
    this.isCurrent = true;
    setImmediate(this.markStale);
    // The version is read before the rows, so that a commit in between is noticed by the next check.
    const version = this.dataVersion.get() ?? 0;
    if (version === this.seenVersion) return;
    this.seenVersion = version;
    const [generation, accessGeneration, oldest, newest] = this.position.get() ?? [0, 0, 0, 0];
    this.seenGeneration = generation;
    this.seenAccessGeneration = accessGeneration;
    if (newest === this.seenChange) return;
    if (oldest > this.seenChange + 1 || newest < this.seenChange) this.reportLost(newest);
    else this.reportChanges();
  }

  /** Must be called after each write of this process, because the write may have happened within the turn. */
  readonly markStale = (): void => {
    this.isCurrent = false;
  };

  private reportChanges(): void {
    for (const [seq, kind, key] of this.changes.all(this.seenChange)) {
      this.seenChange = seq;
      for (const listener of this.listeners) listener.onChange(kind, key);
    }
  }

  private reportLost(newest: number): void {
    this.seenChange = newest;
    for (const listener of this.listeners) listener.onLost();
  }
}
