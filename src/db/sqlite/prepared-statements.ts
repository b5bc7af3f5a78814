/** A handle as Kysely uses it. Statements are kept, because SQLite takes some 50 µs to prepare one and few to run it. */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';
import { RecentMap } from '../../lib/recent-map.ts';

/** A statement takes some 10 KB of memory. */
const KEPT = 100;
/** Longer ones have lists of values, whose lengths differ from call to call. */
const MAX_LENGTH = 4_000;

export class PreparedStatements implements SqliteDatabase {
  private readonly handle: SqliteHandle;
  private readonly kept = new RecentMap<string, Statement<unknown[]>>(KEPT);

  constructor(handle: SqliteHandle) {
    this.handle = handle;
  }

  prepare(sql: string): Statement<unknown[]> {
    const kept = this.kept.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.handle.prepare<unknown[]>(sql);
    if (sql.length <= MAX_LENGTH) this.kept.set(sql, statement);
    return statement;
  }

  close(): void {
    this.handle.close();
  }
}
