/** Keeps how the fleet was at the end of each hour, and of each configuration and composite where that has changed. */

import { sql } from 'kysely';
import { DAY } from '../lib/clock.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** Rows are kept for so long. */
export const KEPT = 400 * DAY;

/** What is kept of one moment. */
export interface Hour {
  /** When the hour ended, in epoch milliseconds. */
  ended: number;
  /** JSON: StateCounts of all nodes. */
  fleet: string;
  /** JSON: OfferedCounts by the id of the configuration or composite; those that no node is offered are left out. */
  offered: ReadonlyMap<string, string>;
}

/** Nothing is written of an hour that is kept already. A configuration whose counts are as in the hour before has no row. */
export async function keepHour(trx: Db, { ended, fleet, offered }: Hour): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('fleet_hours')
    .values({ ended, counts: fleet })
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow();
  if (!numInsertedOrUpdatedRows) return;
  const last = new Map((await lastOffered(trx, ended)).map(({ id, counts }) => [id, counts]));
  const rows: [id: string, ended: number, counts: string][] = [];
  for (const [id, counts] of offered) if (last.get(id) !== counts) rows.push([id, ended, counts]);
  for (const [id, counts] of last) if (!offered.has(id) && counts !== NOBODY) rows.push([id, ended, NOBODY]);
  if (rows.length > 0)
    await sql`insert into offered_hours (resource_id, ended, counts)
      select value ->> 0, cast(value ->> 1 as bigint), value ->> 2
      from ${engineOf(trx).rows(rows)} given`.execute(trx);
  await forget(trx, ended - KEPT);
}

/** Of a configuration that no node is offered. */
export const NOBODY = '{}';

/** The counts of each configuration as they were last before a moment. */
async function lastOffered(db: Db, before: number) {
  const { rows } = await sql<{ id: string; counts: string }>`
    select o.resource_id as id, o.counts from offered_hours o join (
      select resource_id, max(ended) as ended from offered_hours where ended < ${before} group by resource_id) last
    on o.resource_id = last.resource_id and o.ended = last.ended`.execute(db);
  return rows;
}

/** The last row of a configuration before the time stays, because it tells of what follows. */
async function forget(trx: Db, before: number): Promise<void> {
  await trx.deleteFrom('fleet_hours').where('ended', '<', before).execute();
  await sql`delete from offered_hours where ended < ${before} and exists (
    select 1 from offered_hours later where later.resource_id = offered_hours.resource_id
      and later.ended > offered_hours.ended and later.ended <= ${before})`.execute(trx);
}

/** The hours that ended in a span of time, both ends included, oldest first. */
export function listHours(db: Db, from: number, to: number) {
  return db
    .selectFrom('fleet_hours')
    .selectAll()
    .where('ended', '>=', from)
    .where('ended', '<=', to)
    .orderBy('ended')
    .execute();
}

/** What is kept of one configuration in a span of time, oldest first, and what holds at its begin. */
export function listOfferedHours(db: Db, id: string, from: number, to: number) {
  const first = db
    .selectFrom('offered_hours')
    .select((of) => of.fn.coalesce(of.fn.max('ended'), sql<number>`0`).as('first'))
    .where('resource_id', '=', id)
    .where('ended', '<=', from);
  return db
    .selectFrom('offered_hours')
    .select(['ended', 'counts'])
    .where('resource_id', '=', id)
    .where('ended', '>=', first)
    .where('ended', '<=', to)
    .orderBy('ended')
    .execute();
}
