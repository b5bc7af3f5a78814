/** Tells which engine is behind a handle. */

import { PostgresAdapter } from 'kysely';
import type { Db } from './database.ts';
import type { Engine } from './engine.ts';
import { POSTGRES } from './postgres/sql.ts';
import { SQLITE } from './sqlite/sql.ts';

/** The engine behind a handle or a transaction. */
export function engineOf(db: Db): Engine {
  return db.getExecutor().adapter instanceof PostgresAdapter ? POSTGRES : SQLITE;
}
