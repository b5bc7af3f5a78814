/** Failpoints at every commit, in the drivers of both engines, which belong to the process under test. */

import SqliteDatabase from 'better-sqlite3';
import type { Failpoints } from './failpoints.ts';

/** @param databaseUrl of PostgreSQL; null for SQLite */
export async function watchCommits(points: Failpoints, databaseUrl: string | null): Promise<void> {
  watchSqlite(points);
  if (databaseUrl !== null) await watchPostgres(points);
}

/** Puts a failpoint before and after every commit that PostgreSQL is asked for. */
async function watchPostgres(points: Failpoints): Promise<void> {
  const { prototype } = (await import('pg')).default.Client;
  const query = prototype.query as (...given: unknown[]) => unknown;
  const commit = async (client: unknown) => {
    points.pass('before commit');
    const result = await query.call(client, 'commit');
    points.pass('after commit');
    return result;
  };
  prototype.query = function (this: unknown, ...given: unknown[]) {
    return given[0] === 'commit' ? commit(this) : query.apply(this, given);
  } as typeof prototype.query;
}

/** Puts a failpoint before and after every statement that ends a transaction, or is one by itself. */
function watchSqlite(points: Failpoints): void {
  const { prototype } = SqliteDatabase;
  const prepare = prototype.prepare as (sql: string) => SqliteDatabase.Statement;
  prototype.prepare = function (this: SqliteDatabase.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const isEnd = /^commit/i.test(sql);
    const isControl = isEnd || /^(?:begin|rollback|savepoint|release|pragma)/i.test(sql);
    for (const name of ['run', 'all', 'get'] as const) {
      const work = statement[name] as (...values: unknown[]) => unknown;
      const watched = (...values: unknown[]) => {
        if (!isEnd && (isControl || statement.readonly || this.inTransaction)) {
          return work.apply(statement, values);
        }
        points.pass('before commit');
        const result = work.apply(statement, values);
        points.pass('after commit');
        return result;
      };
      Object.assign(statement, { [name]: watched });
    }
    return statement;
  } as typeof prototype.prepare;
}
