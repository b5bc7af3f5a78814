/** Translates the drivers' errors in one place: broken uniqueness rules, a full disk, a database that is held or away. */

import SqliteDatabase from 'better-sqlite3';
import { diskFull, unavailableFor } from '../lib/disk-faults.ts';
import { HawserError, internal } from '../lib/errors.ts';
import {
  breaksReferenceOnPostgres,
  breaksUniquenessOnPostgres,
  isOutcomeUnknownOnPostgres,
  translatePostgresError,
} from './postgres/errors.ts';

/**
 * Runs a write.
 * @param columns one or several, each written as `table.column`
 * @throws the given conflict if the write breaks the uniqueness of one of the columns, or any other error unchanged
 */
export async function orConflict<T>(
  columns: string | readonly string[],
  conflict: HawserError,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ([columns].flat().some((column) => breaksUniqueness(error, column))) throw conflict;
    throw error;
  }
}

function breaksUniqueness(error: unknown, column: string): boolean {
  if (!(error instanceof SqliteDatabase.SqliteError)) return breaksUniquenessOnPostgres(error, column);
  const isUniqueness =
    error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
  return isUniqueness && error.message.includes(column);
}

/** Whether a write was refused because another row still refers to the row that it would delete. */
export function breaksReference(error: unknown): boolean {
  if (!(error instanceof SqliteDatabase.SqliteError)) return breaksReferenceOnPostgres(error);
  return error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/**
 * Whether nobody knows yet if the write was committed. It must not be undone elsewhere then, because it may turn out to be
 * there; `Database.onceBack` finds out.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  return isOutcomeUnknownOnPostgres(error);
}

/** Whether the statement did nothing because another process holds the database. */
export function isHeld(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && /^SQLITE_BUSY(?:_|$)/.test(error.code);
}

/** The error that ends a start. */
export function databaseHeld(): HawserError {
  const message = 'HAWSER_DATA_DIR: another process has held the database for 5 s; end it and start again';
  return new HawserError('unavailable', 'unavailable', message);
}

/** What is wrong with the file, by the beginning of the result code, and what to do. */
const FAULTS_AT_START: readonly [RegExp, fault: string][] = [
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/,
    'is damaged, or is no SQLite database. Keep a copy of the folder, run "hawser doctor", and bring back a backup with ' +
      '"hawser restore"',
  ],
  [/^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)/, 'must be a file that this user may read and write'],
];

/**
 * Names the file in an error that ends a start. Only the operator sees it, so it may hold the path.
 * @returns any other error unchanged
 */
export function describeFault(error: unknown, file: string): unknown {
  const cause = error instanceof HawserError ? error.cause : error;
  if (!(cause instanceof SqliteDatabase.SqliteError)) return error;
  const [, fault] = FAULTS_AT_START.find(([codes]) => codes.test(cause.code)) ?? [];
  return fault === undefined
    ? error
    : internal('database_damaged', `HAWSER_DATA_DIR: ${file} ${fault}`, cause);
}

/** The error for a log of changes whose database is gone. SQLite would begin an empty database and delete the log. */
export function databaseGone(file: string): HawserError {
  const message =
    `HAWSER_DATA_DIR: ${file} is missing or empty, but its log ${file}-wal holds changes. Keep a copy of the folder, ` +
    'and bring back a backup with "hawser restore"';
  return internal('database_damaged', message);
}

/** Result codes, with their extended forms (sqlite.org/rescode.html), of faults that pass or can be repaired meanwhile. */
const PASSING = /^SQLITE_(?:BUSY|IOERR|READONLY|CANTOPEN|PROTOCOL|NOMEM)(?:_|$)/;

/** Gives faults of the disk and of a busy database kinds of their own. Any other error comes back unchanged. */
export function translateDatabaseError(error: unknown): unknown {
  if (!(error instanceof SqliteDatabase.SqliteError)) return translatePostgresError(error);
  if (error.code === 'SQLITE_FULL') return diskFull(error);
  if (!PASSING.test(error.code)) return error;
  const held = 'Another process holds the database; try again';
  return unavailableFor(isHeld(error) ? held : 'The database cannot be used at the moment', error);
}
