/**
 * A disk under the database that fails at a chosen write. The failure is real: the system forbids this process to
 * write more.
 */

import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import type { Fault } from './fault-sweep.ts';
import { limitFileSize } from './file-size.ts';

/** Less than one page of SQLite's write-ahead log, and more than the Git objects of small files. */
const LIMIT = 4_000;
const WRITE = /^\s*(?:insert|update|delete|commit)/i;

export interface FailingDatabase extends Fault {
  /** Restores everything. Call `failingDatabase` before a server opens its database. */
  stop(): void;
}

/**
 * Counts what makes SQLite write: commits, and statements outside of transactions, of every handle that may write.
 * From the chosen one on, all of them get EFBIG, which SQLite reports as SQLITE_IOERR_WRITE.
 */
export function failingDatabase(): FailingDatabase {
  const { prototype } = SqliteDatabase;
  const { prepare } = prototype;
  let left = Number.POSITIVE_INFINITY;
  let isFailing = false;
  const count = () => {
    left -= 1;
    if (left >= 0 || isFailing) return;
    isFailing = true;
    limitFileSize(LIMIT);
  };
  // The server prepares a statement once and runs it many times, so each run is counted.
  prototype.prepare = function (this: SqliteDatabase.Database, source: string) {
    const statement = prepare.call(this, source);
    if (this.readonly || !WRITE.test(source)) return statement;
    for (const name of ['run', 'all', 'get'] as const) {
      const work = statement[name] as (...values: unknown[]) => unknown;
      const counted = (...values: unknown[]) => {
        if (!this.inTransaction || /^\s*commit/i.test(source)) count();
        return work.apply(statement, values);
      };
      Object.assign(statement, { [name]: counted });
    }
    return statement;
  } as typeof prepare;
  const end = () => {
    const hasFailed = isFailing;
    if (isFailing) limitFileSize(null);
    isFailing = false;
    left = Number.POSITIVE_INFINITY;
    return hasFailed;
  };
  return {
    name: 'SQLITE_IOERR',
    status: 503,
    code: 'unavailable',
    isLasting: false,
    begin: (after) => {
      left = after;
    },
    end,
    stop: () => {
      end();
      prototype.prepare = prepare;
    },
  };
}

/** The rows of all tables, except notes that the server writes in passing, and the counters of caches. */
export function rowsOf(dataDir: string): Record<string, string[]> {
  const handle = new SqliteDatabase(join(dataDir, 'hawser.db'), { readonly: true });
  try {
    const tables = handle
      .prepare<[], string>("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
      .pluck()
      .all();
    const told = tables.filter((name) => !IN_PASSING.has(name));
    return Object.fromEntries(told.map((name) => [name, rowsIn(handle, name)]));
  } finally {
    handle.close();
  }
}

const IN_PASSING = new Set([
  ...['changes', 'generation', 'access_generation', 'node_check_ins', 'login_attempts'],
  // What polls and downloads tell of what nodes run.
  ...['node_running', 'node_past', 'past_nodes', 'manifests', 'checksum_uses'],
  // The history of cleanups also contains those that failed.
  'retention_runs',
]);
const COLUMNS_IN_PASSING = ['evidence', 'updated_at', 'last_used_at', 'expires_at'];
/** An event gets its position after its change has been committed, perhaps while the next request is under way. */
const NUMBERED_LATER = { table: 'events', column: 'position' };

function rowsIn(handle: SqliteDatabase.Database, table: string): string[] {
  const rows = handle.prepare<[], Record<string, unknown>>(`select * from "${table}"`).all();
  return rows.map((row) => {
    for (const column of COLUMNS_IN_PASSING) delete row[column];
    if (table === NUMBERED_LATER.table) delete row[NUMBERED_LATER.column];
    return JSON.stringify(row);
  });
}
