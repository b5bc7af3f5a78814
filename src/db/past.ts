/** Reads what one node ran at which time, and ends it with the node. Triggers write it (`past-tables.ts`). */

import { sql } from 'kysely';
import { DAY, HOUR } from '../lib/clock.ts';
import type { Db } from './database.ts';
import { EVIDENCE, type Evidence } from './node-tables.ts';
import { type Page, type PageQuery, pageOf, toFlag } from './rows.ts';
import { readRetentionSettings } from './settings.ts';

/** A time after all others, for what holds now. */
export const NOW = Number.MAX_SAFE_INTEGER;

/** A stretch in which a node ran one checksum. Times are in epoch milliseconds. */
export interface Stretch {
  checksum: string;
  /** The names in its manifest; null where no manifest could be made of it. */
  configurationName: string | null;
  isComposite: boolean | null;
  version: string | null;
  from: number;
  /** Null: now. */
  to: number | null;
  toldAt: number | null;
  servedAt: number | null;
  declaredAt: number | null;
}

/** A node that is there, or of which what it ran is still known. */
export interface PastNode {
  nodeId: string;
  fqdn: string;
  deletedAt: number | null;
}

/** What was known to run at a time. */
export interface Ran {
  checksum: string;
  evidence: Evidence;
  /** When the evidence that stood then was made. */
  since: number;
}

const START = 'historyFrom';

/** Must be called at each start. The first one with this table is where the past begins. */
export async function notePastBegin(db: Db, now: number): Promise<void> {
  await db
    .insertInto('server_settings')
    .values({ name: START, value: JSON.stringify(now) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** What has ended before the bound is deleted, so that no longer time of keeping brings it back. */
export async function movePastBegin(db: Db, bound: number): Promise<void> {
  const before = await pastBegin(db);
  if (bound <= before) return;
  await db
    .updateTable('server_settings')
    .set({ value: JSON.stringify(bound) })
    .where('name', '=', START)
    .execute();
}

async function pastBegin(db: Db): Promise<number> {
  const row = await db
    .selectFrom('server_settings')
    .select('value')
    .where('name', '=', START)
    .executeTakeFirst();
  return row === undefined ? 0 : Number(JSON.parse(row.value));
}

/** From when on it is known what nodes ran, in epoch milliseconds. */
export async function historyFrom(db: Db, now: number): Promise<number> {
  const { historyKeepDays } = await readRetentionSettings(db);
  return Math.max(await pastBegin(db), pastBound(now, historyKeepDays));
}

/** The bound moves by whole hours, so that the settings that show it are not others at each look. */
export function pastBound(now: number, keepDays: number): number {
  return Math.floor((now - keepDays * DAY) / HOUR) * HOUR;
}

/** Ends what a node runs, which is about to be deleted. */
export async function endPast(trx: Db, nodeId: string, now: number): Promise<void> {
  const node = await trx
    .updateTable('past_nodes')
    .set({ deleted_at: now })
    .where('node_id', '=', nodeId)
    .returning('number')
    .executeTakeFirst();
  if (node === undefined) return;
  await sql`update node_past set ended = case when started < ${now} then ${now} else started + 1 end
    where node_number = ${node.number} and ended is null
      and started = (select max(started) from node_past where node_number = ${node.number})`.execute(trx);
}

/** A node by its id; undefined where there is none and none of which anything is known. */
export async function findPastNode(db: Db, nodeId: string): Promise<PastNode | undefined> {
  const node = await db
    .selectFrom('nodes')
    .select(['id as nodeId', 'fqdn'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
  if (node !== undefined) return { ...node, deletedAt: null };
  return db
    .selectFrom('past_nodes')
    .select(['node_id as nodeId', 'fqdn', 'deleted_at as deletedAt'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
}

const stretches = (db: Db, nodeId: string) =>
  db
    .selectFrom('node_past as h')
    .innerJoin('past_nodes as n', 'n.number', 'h.node_number')
    .leftJoin('manifests as m', 'm.checksum', 'h.checksum')
    .select(['h.checksum', 'm.configuration_name as configurationName', 'm.is_composite', 'm.version'])
    .select(['h.started as from', 'h.ended as to', 'h.told_at as toldAt', 'h.served_at as servedAt'])
    .select('h.declared_at as declaredAt')
    .where('n.node_id', '=', nodeId)
    .orderBy('h.started', 'desc');

/** Newest first, those that were not over when the past begins. */
export async function listStretches(
  db: Db,
  nodeId: string,
  since: number,
  page: PageQuery,
): Promise<Page<Stretch>> {
  const { rows, total } = await pageOf(
    stretches(db, nodeId).where((on) => on.or([on('h.ended', 'is', null), on('h.ended', '>', since)])),
    page,
  );
  return {
    rows: rows.map(({ is_composite, ...row }) => ({ ...row, isComposite: toFlag(is_composite) })),
    total,
  };
}

/** What a node ran at a time; undefined where nothing is known to have run. */
export async function findRan(db: Db, nodeId: string, at: number): Promise<Ran | undefined> {
  const row = await stretches(db, nodeId).where('h.started', '<=', at).limit(1).executeTakeFirst();
  if (row === undefined || (row.to !== null && row.to <= at)) return undefined;
  return { checksum: row.checksum, ...evidenceAt(row, at) };
}

/** The strongest evidence of a stretch that was there at a time. */
export function evidenceAt(
  { toldAt, servedAt, declaredAt }: Pick<Stretch, 'toldAt' | 'servedAt' | 'declaredAt'>,
  at: number,
): Pick<Ran, 'evidence' | 'since'> {
  const times = { Told: toldAt, Served: servedAt, Declared: declaredAt };
  for (const evidence of EVIDENCE.toReversed()) {
    const since = times[evidence];
    if (since !== null && since <= at) return { evidence, since };
  }
  throw new Error('A stretch began without evidence');
}
