/** Driver errors, translated once: a broken uniqueness rule becomes the caller's conflict, a full disk says so. */

import SqliteDatabase from 'better-sqlite3';
import { DISK_RETRY_AFTER } from '../lib/disk-faults.ts';
import { HawserError } from '../lib/errors.ts';

/**
 * Runs a write and gives `conflict` in place of a broken uniqueness rule on `column` (`table.column`).
 * @throws HawserError the given conflict, or what `translateDatabaseError` makes of another fault
 */
export async function orConflict<T>(
  column: string,
  conflict: HawserError,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (breaksUniqueness(error, column)) throw conflict;
    throw error;
  }
}

function breaksUniqueness(error: unknown, column: string): boolean {
  return (
    error instanceof SqliteDatabase.SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY') &&
    error.message.includes(column)
  );
}

/** Whether a write was refused because another row still refers to the one it would remove. */
export function breaksReference(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/** Whether another process holds the database, so that nothing of the statement was done. */
export function isHeld(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && /^SQLITE_BUSY(?:_|$)/.test(error.code);
}

/** Ends a start. */
export function databaseHeld(): HawserError {
  const message = 'HAWSER_DATA_DIR: another process has held the database for 5 s; end it and start again';
  return new HawserError('unavailable', 'unavailable', message);
}

/** Result codes, with all that extend them (sqlite.org/rescode.html), of faults that pass or can be mended meanwhile. */
const PASSING = /^SQLITE_(?:BUSY|IOERR|READONLY|CANTOPEN|PROTOCOL|NOMEM)(?:_|$)/;

/** Gives faults of the disk and of a busy database their own kinds; anything else comes back unchanged. */
export function translateDatabaseError(error: unknown): unknown {
  if (!(error instanceof SqliteDatabase.SqliteError)) return error;
  if (error.code === 'SQLITE_FULL') {
    return new HawserError('storage_full', 'insufficient_storage', 'The disk is full', { cause: error });
  }
  if (PASSING.test(error.code)) {
    const message = isHeld(error)
      ? 'Another process holds the database; try again'
      : 'The database cannot be used at the moment';
    const options = { cause: error, retryAfter: DISK_RETRY_AFTER };
    return new HawserError('unavailable', 'unavailable', message, options);
  }
  return error;
}
