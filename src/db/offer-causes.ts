/** Which deed changed what a node is offered: the newest entry of the audit trail that fits the change. */

import { type SqlBool, sql } from 'kysely';
import { CAUSING_ACTIONS, type Had, mayCause, type OfferChange } from '../domain/timeline.ts';
import { MINUTE } from '../lib/clock.ts';
import type { AuditEntryRow } from './audit-trail.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** A change of an offer, with its time and that of the change before it in epoch milliseconds. */
export interface ChangedOffer extends OfferChange {
  nodeId: string;
  at: number;
  since: number;
}

type Entry = Pick<
  AuditEntryRow,
  'id' | 'action' | 'resource_id' | 'resource_type' | 'details' | 'actor_name'
>;

/** Entries that are looked at for one change. */
const MOST = 200;

/** The entry that caused a change; undefined where none is kept that fits. */
export async function findCause(db: Db, change: ChangedOffer): Promise<Entry | undefined> {
  const own = await idsOfNames(
    db,
    [change.before, change.after].flatMap((had) => had?.configurationName ?? []),
  );
  const parts = await idsOfNames(db, await childrenOf(db, change));
  const { isOneOf } = engineOf(db);
  const ids = [change.nodeId, ...own, ...parts];
  const entries = await db
    .selectFrom('audit_entries')
    .select(['id', 'action', 'resource_id', 'resource_type', 'details', 'actor_name'])
    .where('timestamp', '<=', change.at)
    // A deed is as old as its request, which may have come before the last poll that knew nothing of it.
    .where('timestamp', '>=', change.since - MINUTE)
    .where(sql<SqlBool>`(${isOneOf('resource_id', ids)} or resource_type in ('ScopeType', 'ScopeValue'))`)
    .where(isOneOf('action', CAUSING_ACTIONS))
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(MOST)
    .execute();
  const isOwn = ({ resource_id: id }: Entry) => id !== null && own.includes(id);
  return (
    entries.find((entry) => {
      const details = JSON.parse(entry.details ?? '{}') as Record<string, unknown>;
      return mayCause(entry.action, details, change, isOwn(entry));
    }) ?? entries.find(({ action }) => action === 'node.tagged' || action === 'node.untagged')
  );
}

async function idsOfNames(db: Db, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { isOneOf } = engineOf(db);
  const configurations = db.selectFrom('configurations').select('id').where(isOneOf('name', names));
  const composites = db.selectFrom('composites').select('id').where(isOneOf('name', names));
  return (await configurations.unionAll(composites).execute()).map(({ id }) => id);
}

/** The children of the composites that were offered, as far as manifests of them are kept. */
async function childrenOf(
  db: Db,
  { before, after }: { before: Had | null; after: Had | null },
): Promise<string[]> {
  const checksums = [before, after].flatMap((had) => had?.checksum ?? []);
  const rows = await db
    .selectFrom('manifests')
    .select('content')
    .where('is_composite', '=', 1)
    .where(engineOf(db).isOneOf('checksum', checksums))
    .execute();
  const parts = rows.flatMap(
    ({ content }) => (JSON.parse(content) as { parts: { configurationName: string }[] }).parts,
  );
  return [...new Set(parts.map(({ configurationName }) => configurationName))];
}
