/**
 * The servers that use one PostgreSQL database. The time is that of PostgreSQL, because the clocks of servers differ. An
 * SQLite database has one server, so there is no table there.
 */

import { type Selectable, sql } from 'kysely';
import { LEADER } from '../domain/lock-names.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { keyOfLock } from './postgres/advisory-keys.ts';
import { TERM } from './postgres/lead.ts';
import type { Schema } from './schema.ts';

/** A server that was not seen for so long has ended. */
const GONE = sql<boolean>`seen_at < now() - interval '1 minute'`;

/** What a server says of itself. */
export interface ServerFacts {
  /** A new one for each start. */
  id: string;
  version: string;
  host: string;
  /** The ids of the keys of secrets that it has. */
  secretKeyIds: readonly string[];
}

/** A server of the list. */
export type ListedServer = Selectable<Schema['servers']>;

/** Whether the database has the table. */
export function listsServers(db: Db): boolean {
  return engineOf(db).isShared;
}

/** Writes that the server is there. */
export async function noteServer(db: Db, { id, secretKeyIds, ...facts }: ServerFacts): Promise<void> {
  const row = { ...facts, secret_key_ids: JSON.stringify(secretKeyIds), seen_at: sql<Date>`now()` };
  await db
    .insertInto('servers')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
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
export function listServers(db: Db): Promise<ListedServer[]> {
  return db
    .selectFrom('servers')
    .selectAll()
    .where((where) => where.not(GONE))
    .orderBy('id')
    .execute();
}

/** Who leads, as PostgreSQL knows it. */
export interface LeadState {
  now: Date;
  /** The id of the server whose lease holds; null if there is none. */
  leader: string | null;
  number: number;
  /** Whether somebody holds the lock of the lead, as a server of an older release does that leads. */
  isLocked: boolean;
}

/** Reads who leads. */
export async function readLead(db: Db): Promise<LeadState> {
  const { rows } = await sql<LeadState>`select clock_timestamp() as now, number,
      case when renewed_at >= clock_timestamp() - ${TERM} * interval '1 millisecond' then server_id end as leader,
      exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32 | objid::bigint) = ${sql.raw(keyOfLock(LEADER))}) as "isLocked"
    from lead_lease`.execute(db);
  const [state] = rows;
  if (state === undefined) throw new Error('The table of the lease has no row');
  return state;
}
