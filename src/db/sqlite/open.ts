/**
 * Opens the database: one handle that writes, one that only reads, and the prepared reads of the poll. In WAL mode with
 * synchronous=NORMAL a commit is not flushed; whoever made it waits for `LogFlush`, after which it survives a power cut.
 * Readers wait neither for a commit, nor for a flush, nor for another process that holds the database.
 */

import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { addPart } from '../../lib/request-parts.ts';
import type { Database } from '../database.ts';
import { databaseGone, databaseHeld, isHeld, translateDatabaseError } from '../errors.ts';
import { soleLease } from '../lease.ts';
import { migrate } from '../migrate.ts';
import { NodeLookup } from '../node-lookup.ts';
import { NodeNames } from '../node-names.ts';
import type { Schema } from '../schema.ts';
import { WriteHealth } from '../write-health.ts';
import { UNWATCHED, type WriteWatch } from '../write-watch.ts';
import { SqliteChangeFeed } from './change-feed.ts';
import { Checkpoints } from './checkpoints.ts';
import { beginLog, LogFlush } from './log-flush.ts';
import { MIGRATIONS } from './migrations.ts';
import { SqliteNodeReader } from './node-reader.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { PATIENCE, Writer } from './writer.ts';
import { WriterDialect } from './writer-dialect.ts';

/** The name of the database file in the data folder. */
export const DATABASE_FILE = 'hawser.db';

/**
 * Opens `hawser.db` in the folder, which is made (0700) if absent, and migrates it.
 * @param watch is told of each write, including those of the migrations
 * @throws HawserError unavailable if another process has held the database for 5 s; `database_damaged` if its log alone
 *   is left; what `migrate` throws; or the driver's error, see `describeFault`
 */
export async function openSqlite(
  dataDir: string,
  { watch = UNWATCHED }: { watch?: WriteWatch } = {},
): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, DATABASE_FILE);
  refuseLostDatabase(file);
  const handle = openWriter(file);
  const writer = new Writer(handle, new LogFlush(`${file}-wal`));
  const checkpoints = new Checkpoints(file, handle, writer.locks);
  const health = new WriteHealth();
  let changes: SqliteChangeFeed | undefined;
  const writing = (patience: number, isFlushed = true) =>
    new Kysely<Schema>({
      dialect: new WriterDialect(writer, { patience, isFlushed, watch }),
      // Kysely calls this after each statement, and after each commit.
      log(event) {
        health.note(event, handle.inTransaction);
        changes?.markStale();
        checkpoints.note();
      },
    });
  const [write, writeNow] = [writing(PATIENCE), writing(0)];
  const writeUnflushed = writing(PATIENCE, false);
  const noteUnflushed = writing(0, false);
  await migrate(write, MIGRATIONS);
  const lookupHandle = openReader(file);
  changes = new SqliteChangeFeed(lookupHandle);
  const nodeReader = new SqliteNodeReader(lookupHandle);
  const nodeLookup = new NodeLookup(nodeReader, changes, true);
  const nodeNames = new NodeNames(nodeReader, changes);
  const readHandle = openReader(file);
  const statements = new PreparedStatements(readHandle);
  const read = measuredReads(statements);
  return {
    write,
    transact: (work) => write.transaction().execute(work),
    writeNow,
    writeUnflushed,
    noteUnflushed,
    flush: () => writer.log.flush(),
    read,
    nodeLookup,
    nodeNames,
    changes,
    repositories: null,
    locks: writer.locks,
    claimLead: async () => soleLease(),
    async requireReadable() {
      await read.selectFrom('generation').select('value').executeTakeFirstOrThrow();
    },
    async requireWritable() {
      try {
        await writer.requireFree();
      } catch (error) {
        health.noteFailure(error);
        throw translateDatabaseError(error);
      }
    },
    // Each commit here has an answer.
    onceBack: () => undefined,
    writeFault: () => health.faultOf(writeNow),
    close: async () => {
      await checkpoints.close();
      await writer.log.close();
      lookupHandle.close();
      await read.destroy();
      // Kysely closes nothing if no statement was run. Only whoever closes the last handle empties the log.
      readHandle.close();
      await noteUnflushed.destroy();
      await writeUnflushed.destroy();
      await writeNow.destroy();
      await write.destroy();
      handle.close();
    },
  };
}

function measuredReads(statements: PreparedStatements): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: new SqliteDialect({ database: statements }),
    log: ({ queryDurationMillis }) => addPart('database', queryDurationMillis),
  });
}

/**
 * Milliseconds for which a read may hold up the process. In WAL mode it never has to wait for whoever writes, only for
 * another process that is just recovering the log after a crash.
 */
const READERS_PATIENCE = 20;

/** A handle that only reads, of a database that is open for writing elsewhere in this server. */
export function openReader(file: string): SqliteHandle {
  return tune(new SqliteDatabase(file, { readonly: true }), READERS_PATIENCE);
}

/** @throws HawserError `database_damaged` if there are changes in the log and no database to which they belong */
function refuseLostDatabase(file: string): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeOf(file) === 0 && sizeOf(`${file}-wal`) > 0) throw databaseGone(file);
}

/** @throws HawserError unavailable if another process has held the database for 5 s */
function openWriter(file: string): SqliteHandle {
  // SQLite itself may wait here, because nobody is served yet.
  const handle = new SqliteDatabase(file, { timeout: PATIENCE });
  try {
    chmodSync(file, 0o600);
    handle.pragma('journal_mode = WAL');
    handle.pragma('synchronous = NORMAL');
    tune(handle, 0);
    takeLogOver(handle);
    return handle;
  } catch (error) {
    handle.close();
    throw isHeld(error) ? databaseHeld() : error;
  }
}

/**
 * Copies into the database, and flushes there, what a process left in the log that ended before its flush or because of it,
 * and begins the log. On a full disk the log keeps everything.
 * @throws the driver's error if the disk fails
 */
function takeLogOver(handle: SqliteHandle): void {
  try {
    handle.pragma('wal_checkpoint(passive)');
    beginLog(handle);
  } catch (error) {
    const isFull = error instanceof SqliteDatabase.SqliteError && error.code === 'SQLITE_FULL';
    if (!isFull && !isHeld(error)) throw error;
  }
}

function tune(handle: SqliteHandle, patience: number): SqliteHandle {
  handle.pragma('foreign_keys = ON');
  handle.pragma(`busy_timeout = ${patience}`);
  handle.pragma('cache_size = -16384');
  return handle;
}
