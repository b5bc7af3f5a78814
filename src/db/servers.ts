/**
 * The servers that use one PostgreSQL database. The time is that of PostgreSQL, because the clocks of servers differ. An
 * SQLite database has one server, so there is no table there.
 */

import { sql } from 'kysely';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** A server that was not seen for so long has ended. */
const GONE = sql<boolean>`seen_at < now() - interval '1 minute'`;

/** Whether the database has the table. */
export function listsServers(db: Db): boolean {
  return engineOf(db).isShared;
}

/** Writes that the server is there. */
export async function noteServer(db: Db, { id, version }: { id: string; version: string }): Promise<void> {
  const seen_at = sql<Date>`now()`;
  await db
    .insertInto('servers')
    .values({ id, version, seen_at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ version, seen_at }))
    .execute();
}

/** Removes a server that ends in order. */
export async function removeServer(db: Db, id: string): Promise<void> {
  await db.deleteFrom('servers').where('id', '=', id).execute();
}

/** Removes the servers that ended otherwise. */
export async function removeGoneServers(db: Db): Promise<void> {
  if (listsServers(db)) await db.deleteFrom('servers').where(GONE).execute();
}

/** The servers that are there, by their ids. */
export function listServers(db: Db): Promise<{ id: string; version: string; seen_at: Date }[]> {
  return db
    .selectFrom('servers')
    .selectAll()
    .where((where) => where.not(GONE))
    .orderBy('id')
    .execute();
}
