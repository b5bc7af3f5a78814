/** What the rest of the server knows of the database: handles for queries, and what is looked up for polls. */

import type { Kysely } from 'kysely';
import type { Locks } from '../lib/locks.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { GitTables } from './git-tables.ts';
import type { Lease } from './lease.ts';
import type { NodeLookup } from './node-lookup.ts';
import type { NodeNames } from './node-names.ts';
import type { Db, Schema } from './schema.ts';

export type { Db } from './schema.ts';

/** Where the database is: `hawser.db` in the data folder, or a PostgreSQL server. */
export interface DatabasePlace {
  dataDir: string;
  /** The URL of PostgreSQL, with its password; null for SQLite. */
  databaseUrl: string | null;
}

export interface Database {
  /**
   * For changes, and for reads that must stand in one transaction with them. While another process holds an SQLite
   * database they are tried again for 5 s.
   */
  write: Kysely<Schema>;
  /** Makes a transaction of `write`. Where many deeds are one step, it is kept and made with those of the others. */
  transact(work: (trx: Db) => Promise<void>): Promise<void>;
  /**
   * Like `write`, but fails at once while another process holds the database. It is for notes that can be written later.
   * On PostgreSQL these writes do not take their turn among the others, so they must not change what a node gets.
   */
  writeNow: Kysely<Schema>;
  /**
   * Like `write`, but a commit is not flushed when it returns. A power cut may undo it, and nothing that was written before
   * it. Each later commit of `write` flushes it too. It is for work that can be done again and is not acknowledged yet.
   */
  writeUnflushed: Kysely<Schema>;
  /** Like `writeNow` and `writeUnflushed` at once. It is for notes that are shown as soon as they are written. */
  noteUnflushed: Kysely<Schema>;
  /** Resolves once all that was committed is on the disk, also by `writeUnflushed`. */
  flush(): Promise<void>;
  /** For all other reads. A statement sees all that was committed before it began. */
  read: Kysely<Schema>;
  nodeLookup: NodeLookup;
  /** Finds parts of nodes' names. */
  nodeNames: NodeNames;
  /** `catchUp` must be called before anything is answered from memory. */
  changes: ChangeFeed;
  /** The repositories in PostgreSQL; null where they are folders. */
  repositories: GitTables | null;
  /** The locks that all processes on this database share. */
  locks: Locks;
  /**
   * Takes the lead, unless another process on this database has it. On SQLite the caller is the one that may lead.
   * @param server its id in the list of servers
   * @returns null if another one leads
   */
  claimLead(server: string): Promise<Lease | null>;
  /**
   * Resolves once the database can be written. It is called before a lock is taken for writing, so that all callers who
   * want the same lock wait for another process at the same time. It is also called before refs are moved that belong to
   * a row.
   * @throws HawserError unavailable if another process has held the database for 5 s, or if it is away
   */
  requireWritable(): Promise<void>;
  /**
   * Resolves if the database can be read.
   * @throws what a read fails with
   */
  requireReadable(): Promise<void>;
  /**
   * Ends in the background what a write has left open when its answer was lost: as soon as the database answers again, and
   * not before the lost connection has ended wherever `work` takes a lock that it held.
   */
  onceBack(work: () => Promise<void>): void;
  /** The code of the error that writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  writeFault(): Promise<string | null>;
  close(): Promise<void>;
}
