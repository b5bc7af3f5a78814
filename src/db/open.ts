/**
 * Opens the database: one handle that writes, one that only reads, and the prepared reads of the poll.
 * WAL with synchronous=FULL: a commit that returned survives a power cut, and readers never wait for it.
 */

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect, type Transaction } from 'kysely';
import { migrate } from './migrate.ts';
import { NodeLookup } from './node-lookup.ts';
import type { Schema } from './schema.ts';
import { TimedSqliteDialect, UNWATCHED, type WriteWatch } from './timed-dialect.ts';

/** A handle or a transaction: the first argument of every query function. */
export type Db = Kysely<Schema> | Transaction<Schema>;

export interface Database {
  /** For changes, and for reads that must stand in one transaction with them. */
  write: Kysely<Schema>;
  /** For everything else; it sees all that was committed before the statement began. */
  read: Kysely<Schema>;
  nodeLookup: NodeLookup;
  close(): Promise<void>;
}

/** The database's name in the data folder. */
export const DATABASE_FILE = 'hawser.db';

/**
 * Opens `hawser.db` in the folder, which is made (0700) if absent, and migrates it.
 * @param watch told of each write, of everything from the migrations on
 */
export async function openDatabase(dataDir: string, watch: WriteWatch = UNWATCHED): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, DATABASE_FILE);
  const writer = new SqliteDatabase(file);
  chmodSync(file, 0o600);
  writer.pragma('journal_mode = WAL');
  writer.pragma('synchronous = FULL');
  tune(writer);
  let nodeLookup: NodeLookup | undefined;
  const write = new Kysely<Schema>({
    dialect: new TimedSqliteDialect({ database: writer }, watch),
    // Told of each statement once it has run, commits included.
    log: () => nodeLookup?.refresh(),
  });
  await migrate(write);
  const openReader = () => tune(new SqliteDatabase(file, { readonly: true }));
  const lookupHandle = openReader();
  nodeLookup = new NodeLookup(lookupHandle);
  const read = new Kysely<Schema>({ dialect: new SqliteDialect({ database: openReader() }) });
  return {
    write,
    read,
    nodeLookup,
    close: async () => {
      nodeLookup.refresh();
      lookupHandle.close();
      await read.destroy();
      await write.destroy();
    },
  };
}

function tune(handle: SqliteHandle): SqliteHandle {
  handle.pragma('foreign_keys = ON');
  handle.pragma('busy_timeout = 5000');
  handle.pragma('cache_size = -16384');
  return handle;
}
