/**
 * How threads read much of the database at once, beside the server that writes it. What is read is said once, as queries
 * with what takes their rows; each engine carries the queries out in its own way.
 */

import type { Awaitable } from '../lib/awaitable.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { GitReader } from './git-tables.ts';

/** A query that both engines understand. */
export interface RowQuery {
  /** Parameters stand in it as `?`, and no other `?` does. */
  sql: string;
  values?: readonly (string | number)[];
  /** Is given the rows one after the other. A row is an array, because an object for each takes twice as long. */
  take(row: readonly unknown[]): void;
}

/** Gives the queries in their order. Each one is carried out before the next one is asked for. */
export type Reading<T> = Generator<RowQuery, T, void>;

export interface ReadingDatabase {
  /** Tells of changes when `catchUp` is called, and never by itself. */
  changes: ChangeFeed;
  /** The repositories in PostgreSQL; null where they are folders. */
  repositories: GitReader | null;
  /**
   * Carries out a reading. All of its queries see the state of one moment, which is not older than the call.
   * @throws HawserError unavailable if PostgreSQL is away; the driver's error for a fault of SQLite
   */
  read<T>(reading: Reading<T>): Awaitable<T>;
  close(): Awaitable<void>;
}
