/**
 * Opens the database: one handle that writes, one that only reads, and the prepared reads of the poll.
 * WAL with synchronous=FULL: a commit that returned survives a power cut, and readers never wait for it.
 */

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect, type Transaction } from 'kysely';
import type { Locks } from '../lib/locks.ts';
import { ChangeFeed } from './change-feed.ts';
import { migrate } from './migrate.ts';
import { NodeLookup } from './node-lookup.ts';
import type { Schema } from './schema.ts';
import { WriteHealth } from './write-health.ts';
import { UNWATCHED, WriterDialect, type WriteWatch } from './writer-dialect.ts';

/** A handle or a transaction: the first argument of every query function. */
export type Db = Kysely<Schema> | Transaction<Schema>;

export interface Database {
  /** For changes, and for reads that must stand in one transaction with them. */
  write: Kysely<Schema>;
  /** For everything else; it sees all that was committed before the statement began. */
  read: Kysely<Schema>;
  nodeLookup: NodeLookup;
  /** To be caught up with before anything is answered from memory. */
  changes: ChangeFeed;
  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  writeFault(): Promise<string | null>;
  close(): Promise<void>;
}

/** The database's name in the data folder. */
export const DATABASE_FILE = 'hawser.db';

/**
 * Opens `hawser.db` in the folder, which is made (0700) if absent, and migrates it.
 * @param watch told of each write, of everything from the migrations on
 * @param locks given where other processes of this server write to it too
 */
export async function openDatabase(
  dataDir: string,
  { watch = UNWATCHED, locks = null }: { watch?: WriteWatch; locks?: Locks | null } = {},
): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, DATABASE_FILE);
  const writer = new SqliteDatabase(file);
  chmodSync(file, 0o600);
  writer.pragma('journal_mode = WAL');
  writer.pragma('synchronous = FULL');
  tune(writer);
  const health = new WriteHealth();
  let changes: ChangeFeed | undefined;
  const write = new Kysely<Schema>({
    dialect: new WriterDialect({ database: writer }, { watch, locks }),
    // Told of each statement once it has run, commits included.
    log(event) {
      health.note(event, writer.inTransaction);
      changes?.lapse();
    },
  });
  await migrate(write);
  const openReader = () => tune(new SqliteDatabase(file, { readonly: true }));
  const lookupHandle = openReader();
  changes = new ChangeFeed(lookupHandle);
  const nodeLookup = new NodeLookup(lookupHandle, changes);
  const read = new Kysely<Schema>({ dialect: new SqliteDialect({ database: openReader() }) });
  return {
    write,
    read,
    nodeLookup,
    changes,
    writeFault: () => health.faultOf(write),
    close: async () => {
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
