/** Opens SQLite for a thread that only reads. */

import { join } from 'node:path';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { queriesFor, type Reading, type ReadingDatabase } from '../reading.ts';
import { SqliteChangeFeed } from './change-feed.ts';
import { DATABASE_FILE, openReader } from './open.ts';
import { PreparedStatements } from './prepared-statements.ts';

/** KiB. The index that lists go through has 20 MB for 100,000 nodes, and is read anew each time where it does not fit. */
const CACHE = 65_536;

/** @throws the driver's error if the file cannot be opened */
export function openSqliteForReading(dataDir: string): ReadingDatabase {
  const handle = openReader(join(dataDir, DATABASE_FILE));
  handle.pragma(`cache_size = -${CACHE}`);
  const statements = new PreparedStatements(handle);
  return {
    changes: new SqliteChangeFeed(handle),
    repositories: null,
    queries: queriesFor({
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    }),
    read(reading) {
      handle.exec('begin');
      try {
        return carryOut(reading, statements);
      } finally {
        handle.exec('commit');
      }
    },
    close: () => statements.close(),
  };
}

function carryOut<T>(reading: Reading<T>, statements: PreparedStatements): T {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    const { sql, values = [], take } = step.value;
    const rows = statements
      .prepare(sql)
      .raw()
      .iterate(...values);
    for (const row of rows as Iterable<unknown[]>) take(row);
  }
}
