/**
 * Opens the database: one handle that writes, one that only reads, and the prepared reads of the poll.
 * WAL with synchronous=FULL: a commit that returned survives a power cut, and readers never wait for it, nor for another
 * process that holds the database.
 */

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect, type Transaction } from 'kysely';
import type { Locks } from '../lib/locks.ts';
import { ChangeFeed } from './change-feed.ts';
import { databaseHeld, isHeld, translateDatabaseError } from './errors.ts';
import { migrate } from './migrate.ts';
import { NodeLookup } from './node-lookup.ts';
import type { Schema } from './schema.ts';
import { WriteHealth } from './write-health.ts';
import { PATIENCE, Writer } from './writer.ts';
import { UNWATCHED, WriterDialect, type WriteWatch } from './writer-dialect.ts';

/** A handle or a transaction: the first argument of every query function. */
export type Db = Kysely<Schema> | Transaction<Schema>;

export interface Database {
  /**
   * For changes, and for reads that must stand in one transaction with them. While another process holds the database
   * they are tried again for 5 s.
   */
  write: Kysely<Schema>;
  /** As `write`, but fails at once while another process holds the database: for what can be noted later as well. */
  writeNow: Kysely<Schema>;
  /** For everything else; it sees all that was committed before the statement began. */
  read: Kysely<Schema>;
  nodeLookup: NodeLookup;
  /** To be caught up with before anything is answered from memory. */
  changes: ChangeFeed;
  /**
   * Resolves once the database can be written. To be called before locks are taken under which is written, so that
   * those who want the same lock wait for another process together, and before refs are moved that a row follows.
   * @throws HawserError unavailable where another process has held it for 5 s
   */
  requireWritable(): Promise<void>;
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
 * @throws HawserError unavailable where another process has held it for 5 s, or what `migrate` throws
 */
export async function openDatabase(
  dataDir: string,
  { watch = UNWATCHED, locks = null }: { watch?: WriteWatch; locks?: Locks | null } = {},
): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, DATABASE_FILE);
  const handle = openWriter(file);
  const writer = new Writer(handle, locks);
  const health = new WriteHealth();
  let changes: ChangeFeed | undefined;
  const writing = (patience: number) =>
    new Kysely<Schema>({
      dialect: new WriterDialect(writer, { patience, watch }),
      // Told of each statement once it has run, commits included.
      log(event) {
        health.note(event, handle.inTransaction);
        changes?.lapse();
      },
    });
  const write = writing(PATIENCE);
  const writeNow = writing(0);
  await migrate(write);
  const openReader = () => tune(new SqliteDatabase(file, { readonly: true }), READERS_PATIENCE);
  const lookupHandle = openReader();
  changes = new ChangeFeed(lookupHandle);
  const nodeLookup = new NodeLookup(lookupHandle, changes);
  const read = new Kysely<Schema>({ dialect: new SqliteDialect({ database: openReader() }) });
  return {
    write,
    writeNow,
    read,
    nodeLookup,
    changes,
    async requireWritable() {
      try {
        await writer.requireFree();
      } catch (error) {
        health.noteFailure(error);
        throw translateDatabaseError(error);
      }
    },
    writeFault: () => health.faultOf(writeNow),
    close: async () => {
      lookupHandle.close();
      await read.destroy();
      await writeNow.destroy();
      await write.destroy();
      handle.close();
    },
  };
}

/**
 * Milliseconds for which a read may hold up the process. In WAL mode it never has to wait for whoever writes, only for
 * another process that is just recovering the log after a crash.
 */
const READERS_PATIENCE = 20;

/** @throws HawserError unavailable where another process has held the database for 5 s */
function openWriter(file: string): SqliteHandle {
  // Until it is open SQLite itself waits: nobody is served yet.
  const handle = new SqliteDatabase(file, { timeout: PATIENCE });
  try {
    chmodSync(file, 0o600);
    handle.pragma('journal_mode = WAL');
    handle.pragma('synchronous = FULL');
    return tune(handle, 0);
  } catch (error) {
    handle.close();
    throw isHeld(error) ? databaseHeld() : error;
  }
}

function tune(handle: SqliteHandle, patience: number): SqliteHandle {
  handle.pragma('foreign_keys = ON');
  handle.pragma(`busy_timeout = ${patience}`);
  handle.pragma('cache_size = -16384');
  return handle;
}
