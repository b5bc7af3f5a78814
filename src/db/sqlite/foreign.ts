/** Reads another program's SQLite file, beside that program or without it. */

import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { HawserError } from '../../lib/errors.ts';
import { columnsByTable, type ForeignTables, type ForeignValue, quoteName } from '../foreign-tables.ts';

const COLUMNS = `
  SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
  WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** SQLite cannot make the files that it needs to read a write-ahead log, because the folder cannot be written. */
const NEEDS_COPY = /^SQLITE_(?:CANTOPEN|READONLY)/;

/** @throws HawserError `source_missing`, `source_unreadable`, or what `work` throws */
export async function readForeignSqlite<T>(
  file: string,
  work: (tables: ForeignTables) => Promise<T>,
): Promise<T> {
  // The log is named after the file, not after a link to it.
  const path = await requireFile(file);
  const beside = await open(file, path).catch((error: unknown) => {
    if (isOfDriver(error) && NEEDS_COPY.test(error.code)) return null;
    throw translate(file, error);
  });
  if (beside !== null) return readAndClose(file, beside, work);
  const folder = await mkdtemp(join(tmpdir(), 'hawser-import-'));
  try {
    const copy = join(folder, 'source.db');
    await copyStill(file, path, copy);
    return await readAndClose(file, await open(file, copy), work);
  } catch (error) {
    throw translate(file, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the path that all links lead to */
async function requireFile(file: string): Promise<string> {
  try {
    const path = await realpath(file);
    const stats = await stat(path);
    if (stats.isDirectory()) throw missing(`${file} is a folder, where the path of an SQLite file is needed`);
    if (!stats.isFile()) throw missing(`${file} is no file`);
    if (stats.size === 0) throw unreadable(`${file} is empty, and no SQLite database`);
    return path;
  } catch (error) {
    if (error instanceof HawserError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw missing(`There is no file ${file}`);
    throw unreadable(`${file} cannot be read (${code})`);
  }
}

/**
 * Begins the transaction in which everything is read.
 *
 * A handle that cannot write makes the files of the write-ahead log where they are absent, and leaves them. So if nobody
 * has the database open, the handle may write, but is told to refuse every statement that would. SQLite deletes the files
 * of the log when such a handle is closed. A rollback journal is the rest of a crash, which only a writing handle repairs.
 */
async function open(file: string, path: string): Promise<SqliteHandle> {
  const readonly = existsSync(`${path}-wal`) || existsSync(`${path}-journal`);
  const handle = new SqliteDatabase(path, { readonly, fileMustExist: true, timeout: 5_000 });
  try {
    handle.pragma('query_only = ON');
    handle.exec('BEGIN');
    // The moment is that of the first look.
    handle.prepare('SELECT count(*) FROM sqlite_schema').get();
    return handle;
  } catch (error) {
    handle.close();
    if (isOfDriver(error) && error.code === 'SQLITE_READONLY_ROLLBACK') throw unfinished(file);
    throw error;
  }
}

/** Copies the file and its log, and makes sure that nobody has written to them meanwhile. */
async function copyStill(file: string, path: string, copy: string): Promise<void> {
  const before = await stateOf(path);
  await copyFile(path, copy);
  if (existsSync(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`);
  if ((await stateOf(path)) === before) return;
  const what = 'is being written to, and its folder cannot be written to by this user';
  throw unreadable(`${file} ${what}; stop the server that writes, or run this as the user of that server`);
}

async function stateOf(path: string): Promise<string> {
  const states = [path, `${path}-wal`].map(async (each) => {
    const found = await stat(each, { bigint: true }).catch(() => null);
    return found === null ? 'absent' : `${found.size} ${found.mtimeNs}`;
  });
  return (await Promise.all(states)).join();
}

async function readAndClose<T>(
  file: string,
  handle: SqliteHandle,
  work: (tables: ForeignTables) => Promise<T>,
): Promise<T> {
  try {
    const pairs = handle.prepare<[], [string, string]>(COLUMNS).raw().all();
    const rowsOf = (statement: string) =>
      handle.prepare<[], ForeignValue[]>(statement).raw().all() as ForeignValue[][];
    return await work({
      columns: columnsByTable(pairs),
      rows: async (table, columns) =>
        rowsOf(`SELECT ${columns.map(quoteName).join(', ')} FROM ${quoteName(table)}`),
      count: async (table) => Number(rowsOf(`SELECT count(*) FROM ${quoteName(table)}`)[0]?.[0]),
    });
  } catch (error) {
    throw translate(file, error);
  } finally {
    handle.close();
  }
}

function isOfDriver(error: unknown): error is Error & { code: string } {
  return error instanceof SqliteDatabase.SqliteError;
}

function translate(file: string, error: unknown): unknown {
  if (!isOfDriver(error)) return error;
  if (error.code === 'SQLITE_NOTADB') return unreadable(`${file} is no SQLite database`);
  if (error.code.startsWith('SQLITE_CORRUPT')) return unreadable(`${file} is damaged (${error.message})`);
  return unreadable(`${file} cannot be read (${error.message})`);
}

function unfinished(file: string): HawserError {
  return unreadable(
    `${file} has a transaction in it that was cut off; start and stop its server once, which ends it`,
  );
}

function missing(message: string): HawserError {
  return new HawserError('not_found', 'source_missing', message);
}

function unreadable(message: string): HawserError {
  return new HawserError('unavailable', 'source_unreadable', message);
}
