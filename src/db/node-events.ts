/** Remembers what nodes are offered and what they run, each time that it changes, for the timelines of nodes. */

import { sql } from 'kysely';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { namesOf } from './manifests.ts';
import { NodeOrder } from './node-order.ts';
import type { Moved, OfferedNow, RunningNote } from './running.ts';

/** What a node was offered or ran. The names are null where no manifest told them. */
export interface Having {
  checksum: string;
  configurationName: string | null;
  version: string | null;
}

interface NewEvent {
  nodeId: string;
  kind: 'Offered' | 'Running';
  at: number;
  before: Having | null;
  after: Having | null;
}

/** Must be called once the manifests of what nodes run are kept. */
export async function recordMoves(trx: Db, moved: readonly Moved[]): Promise<void> {
  const names = await namesOf(trx, moved);
  await addEvents(
    trx,
    moved.map(({ nodeId, before, checksum, at }) => {
      const { configurationName, version } = names.get(checksum) ?? NAMELESS;
      return { nodeId, kind: 'Running', at, before, after: { checksum, configurationName, version } };
    }),
  );
}

const NAMELESS = { configurationName: null, version: null };

/** Writes what polls were answered with, where that is something else than before. */
export async function recordOffers(
  trx: Db,
  notes: Iterable<readonly [nodeId: string, note: RunningNote]>,
): Promise<void> {
  const offered = new Map<string, OfferedNow>();
  for (const [nodeId, { offered: now }] of notes) if (now !== undefined) offered.set(nodeId, now);
  if (offered.size === 0) return;
  const rows = await trx
    .selectFrom('nodes')
    .leftJoin('node_offers as o', 'o.node_id', 'nodes.id')
    .select(['nodes.id', 'o.checksum', 'o.configuration_name as configurationName', 'o.version'])
    .where(engineOf(trx).isOneOf('nodes.id', [...offered.keys()]))
    .execute();
  const events = rows.flatMap(({ id: nodeId, checksum, ...names }): NewEvent[] => {
    const { at, what: after } = offered.get(nodeId) as OfferedNow;
    if ((after?.checksum ?? null) === checksum) return [];
    return [
      { nodeId, kind: 'Offered', at, before: checksum === null ? null : { checksum, ...names }, after },
    ];
  });
  if (events.length === 0) return;
  await writeOffers(trx, events);
  await addEvents(trx, events);
}

async function writeOffers(trx: Db, events: readonly NewEvent[]): Promise<void> {
  const values = events.map(({ nodeId, after }) => [
    nodeId,
    ...[after?.checksum ?? null, after?.configurationName ?? null, after?.version ?? null],
  ]);
  await sql`insert into node_offers (node_id, checksum, configuration_name, version)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from ${engineOf(trx).rows(values)} given where true
    on conflict (node_id) do update set checksum = excluded.checksum,
      configuration_name = excluded.configuration_name, version = excluded.version`.execute(trx);
}

async function addEvents(trx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const order = await NodeOrder.of(trx, [...new Set(events.map(({ nodeId }) => nodeId))]);
  const values = events.map(({ nodeId, kind, at, before, after }) => [
    ...[nodeId, order.next(nodeId, at), kind],
    ...[before && JSON.stringify(before), after && JSON.stringify(after)],
  ]);
  await sql`insert into node_events (node_id, timestamp, kind, before, after)
    select value ->> 0, cast(value ->> 1 as bigint), value ->> 2, value ->> 3, value ->> 4
    from ${engineOf(trx).rows(values)} given`.execute(trx);
}
