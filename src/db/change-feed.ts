/**
 * Tells the caches of this process what was changed, by itself or by another process on the same database. Each engine
 * finds it out in its own way.
 */

import { sql } from 'kysely';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Db } from './schema.ts';

export type ChangeKind =
  | 'certificates'
  | 'scopes'
  | 'configurations'
  | 'composites'
  | 'parameters'
  | 'nodes'
  | 'refs'
  | 'secrets';

export interface ChangeListener {
  /**
   * @param key is a certificate's thumbprint, the id of a scope type or value, or the name of a configuration or composite
   *   whose refs have moved, or the number of a node that was deleted, or a `RefsChange` as JSON, or the key of evidence in
   *   its encrypted form
   * @param owner is the id of the node whose current certificate the named one is now; empty where it is announced alone,
   *   null where there is no such certificate, and undefined where the engine does not tell
   */
  onChange(kind: ChangeKind, key: string, owner?: string | null): void;
  /**
   * Everything may have changed: changes are no longer listed, or nobody knows whether a commit of this process was made
   * (`isUnsure`).
   */
  onLost(isUnsure: boolean): void;
}

/** The numbers of the oldest and the newest change are 0 where there is none. */
export type Position = [generation: number, accessGeneration: number, oldest: number, newest: number];
export type Change = [seq: number, kind: ChangeKind, key: string, owner?: string | null];

/** How old what is known may be. A poll may be answered by what held a second ago, and a user sees what holds now. */
export type Currency = 'now' | 'recent';

export const SELECT_POSITION = `select value, (select value from access_generation where id = 1),
    coalesce((select seq from changes order by seq limit 1), 0),
    coalesce((select seq from changes order by seq desc limit 1), 0)
  from generation where id = 1`;

/** How far the feed is. It moves with whatever changes what nodes get. A transaction that writes reads what holds until its end. */
export async function readFeedPlace(db: Db): Promise<string> {
  const { rows } = await sql<Record<'generation' | 'newest', number>>`
    select value as generation, coalesce((select max(seq) from changes), 0) as newest
    from generation where id = 1`.execute(db);
  return rows.map(({ generation, newest }) => `${generation} ${newest}`).join();
}

export abstract class ChangeFeed {
  private readonly listeners: ChangeListener[] = [];
  private seenChange = 0;
  private seenGeneration = 0;
  private seenAccessGeneration = 0;

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

  /** Whether the database is away, so that what is in memory must do. SQLite never is. */
  get isAway(): boolean {
    return false;
  }

  /** Must be called for each request that fails because the database is away, so that the log can count them. */
  noteFailed(): void {}

  subscribe(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  /**
   * Does work for a poll that may have to read. Where the database has gone away meanwhile, what is kept takes its place.
   * @param kept gives undefined where nothing is kept
   */
  orKept<T>(work: () => Awaitable<T>, _kept: () => T | undefined): Awaitable<T> {
    return work();
  }

  /**
   * Tells the caches of all that was committed before the call. An answer that acknowledges a write leaves its process after
   * the commit, so whoever has the answer sees the write, in every process.
   * @param currency `recent` may leave out what others have committed: on SQLite in this turn of the event loop, on PostgreSQL
   *   within the last second
   * @returns a promise only where there is something to wait for. SQLite never has.
   * @throws HawserError unavailable if the database is away, and with `recent` only once it has been for 30 s
   */
  abstract catchUp(currency: Currency): Awaitable<void>;

  /** Must be called after each write of this process, so that `recent` has it too. */
  abstract readonly markStale: () => void;

  /** Begins at the newest change. */
  protected startAt(newest: number): void {
    this.seenChange = newest;
  }

  /** Takes a position over. Gives the number after which the changes are to be read and reported; null if there are none. */
  protected notePosition([generation, accessGeneration, oldest, newest]: Position): number | null {
    this.seenGeneration = generation;
    this.seenAccessGeneration = accessGeneration;
    if (newest === this.seenChange) return null;
    if (oldest <= this.seenChange + 1 && newest >= this.seenChange) return this.seenChange;
    this.seenChange = newest;
    this.reportLost();
    return null;
  }

  protected reportChanges(changes: Iterable<Change>): void {
    for (const [seq, kind, key, owner] of changes) {
      this.seenChange = seq;
      for (const listener of this.listeners) listener.onChange(kind, key, owner);
    }
  }

  protected reportLost(isUnsure = false): void {
    for (const listener of this.listeners) listener.onLost(isUnsure);
  }
}
