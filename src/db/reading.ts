/**
 * How threads read much of the database at once, beside the server that writes it. What is read is said once, as queries
 * with what takes their rows; each engine carries the queries out in its own way.
 */

import { type Dialect, DummyDriver, Kysely, type RawBuilder } from 'kysely';
import type { Awaitable } from '../lib/awaitable.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { GitReader } from './git-tables.ts';
import type { Db, Schema } from './schema.ts';

/** A query that both engines understand. */
export interface RowQuery {
  /** Parameters stand in it as `?`, and no other `?` does, or as the engine writes them. */
  sql: string;
  values?: readonly unknown[];
  /** Is given the rows one after the other. A row is an array, because an object for each takes twice as long. */
  take(row: readonly unknown[]): void;
}

/** Gives the queries in their order. Each one is carried out before the next one is asked for. */
export type Reading<T> = Generator<RowQuery, T, void>;

/** A query as the query builder writes it. @param db is `ReadingDatabase.queries` */
export function rowQuery(db: Db, query: RawBuilder<unknown>, take: (row: never) => void): RowQuery {
  const { sql, parameters } = query.compile(db);
  return { sql, values: parameters, take };
}

/** A handle that writes queries for an engine, and carries none out. */
export const queriesFor = (dialect: Omit<Dialect, 'createDriver'>) =>
  new Kysely<Schema>({ dialect: { ...dialect, createDriver: () => new DummyDriver() } });

export interface ReadingDatabase {
  /** Tells of changes when `catchUp` is called, and never by itself. */
  changes: ChangeFeed;
  /** The repositories in PostgreSQL; null where they are folders. */
  repositories: GitReader | null;
  /** Writes queries, for `rowQuery`. It carries none out. */
  queries: Db;
  /**
   * Carries out a reading. All of its queries see the state of one moment, which is not older than the call.
   * @throws HawserError unavailable if PostgreSQL is away; the driver's error for a fault of SQLite
   */
  read<T>(reading: Reading<T>): Awaitable<T>;
  close(): Awaitable<void>;
}
