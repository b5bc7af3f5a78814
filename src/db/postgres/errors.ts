/** What PostgreSQL's errors mean (postgresql.org/docs/current/errcodes-appendix.html), and those of its connections. */

import { diskFull, unavailableFor } from '../../lib/disk-faults.ts';
import { DatabaseAway, HawserError } from '../../lib/errors.ts';

/** An error that PostgreSQL has sent. It is known by its members, because its class is in a driver that may not be loaded. */
interface PostgresError extends Error {
  /** The SQLSTATE. */
  code: string;
  severity: string;
  table?: string;
  detail?: string;
}

export function isPostgresError(error: unknown): error is PostgresError {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[0-9A-Z]{5}$/.test(error.code)
  );
}

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const DISK_FULL = '53100';
const DEADLOCK = '40P01';

/** @param column is written as `table.column` */
export function breaksUniquenessOnPostgres(error: unknown, column: string): boolean {
  if (!isPostgresError(error) || error.code !== UNIQUE_VIOLATION) return false;
  const [table, name] = column.split('.');
  // Whatever its language, the detail names the columns in brackets before the values.
  const columns = /\(([^)]*)\)=\(/.exec(error.detail ?? '')?.[1]?.split(', ') ?? [];
  return error.table === table && columns.includes(name ?? '');
}

export function breaksReferenceOnPostgres(error: unknown): boolean {
  return isPostgresError(error) && error.code === FOREIGN_KEY_VIOLATION;
}

/** Whether two transactions waited for each other, and this is the one that PostgreSQL has ended. It may be translated. */
export function isDeadlock(error: unknown): boolean {
  const cause = error instanceof HawserError ? error.cause : error;
  return isPostgresError(cause) && cause.code === DEADLOCK;
}

/**
 * Classes and codes of faults that pass: a lost connection, a transaction that was ended, too few resources, an
 * administrator who ends the server or the statement, a server that only reads for now, a fault of its disk.
 */
const PASSING = /^(?:08|40|53|57|58|55P03|25006|25P03|XX001)/;

/** Whether the connection is of no use any more, so that nobody knows whether the last statement was carried out. */
export function isLost(error: unknown): boolean {
  if (isPostgresError(error)) return /^(?:08|57P0[1-5]|25P03)/.test(error.code);
  // An error of the driver itself or of the socket. Errors of this program have no place in a query.
  return !(error instanceof HawserError);
}

/** The error for a database that cannot be reached. */
export function databaseAway(cause?: unknown): HawserError {
  return new DatabaseAway(cause);
}

/** The error for what a former leader was still about to write. */
export function leadLost(): HawserError {
  return unavailableFor('Another server leads now, so this one no longer writes as the leader', undefined);
}

/** The cause of an error at a commit whose answer was lost, and of which nobody knows yet whether it was made. */
class LostOutcome extends Error {}

/** The error for such a commit. */
export function outcomeUnknown(cause: unknown): HawserError {
  return databaseAway(new LostOutcome('The answer to a commit was lost', { cause }));
}

export function isOutcomeUnknownOnPostgres(error: unknown): boolean {
  return error instanceof HawserError && error.cause instanceof LostOutcome;
}

/** Gives faults that pass, and a full disk, kinds of their own. Any other error comes back unchanged. */
export function translatePostgresError(error: unknown): unknown {
  if (!isPostgresError(error)) return error;
  if (error.code === DISK_FULL) return diskFull(error);
  if (isLost(error)) return databaseAway(error);
  if (PASSING.test(error.code)) return unavailableFor('The database cannot be used at the moment', error);
  return error;
}
