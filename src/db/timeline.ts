/**
 * Reads what the timeline of a node is made of. Each source has its rows in an index by node and time; the newest of all of
 * them are merged. At the same moment a deed comes before what follows from it.
 */

import { type RawBuilder, sql } from 'kysely';
import { DEEDS_ON_NODES, type TimelineKind } from '../domain/timeline.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** The sources in the order of their entries of one moment. The first letter of an entry's id is that of its source. */
const SOURCES = ['a', 'e', 'r', 's'] as const;
type Source = (typeof SOURCES)[number];

/** It says where an entry stands in the timeline. */
export interface Place {
  timestamp: number;
  source: Source;
  seq: number;
}

export type TimelineRow = Place & { key: string };

/** Whose timeline, and which kinds of entries of it. */
export interface Wanted {
  nodeId: string;
  kinds: ReadonlySet<TimelineKind>;
}

const actionsOf = (kinds: ReadonlySet<TimelineKind>): string[] =>
  Object.entries(DEEDS_ON_NODES).flatMap(([action, kind]) => (kinds.has(kind) ? action : []));

/** The rows of a source; null where none of its kinds is wanted. The first of each row of equal reports stands for all of it. */
function rowsOf(db: Db, source: Source, { nodeId, kinds }: Wanted): RawBuilder<unknown> | null {
  if (source === 'a') {
    const actions = actionsOf(kinds);
    if (actions.length === 0) return null;
    return sql`select id as key, timestamp, seq from audit_entries
      where resource_id = ${nodeId} and ${engineOf(db).isOneOf('action', actions)}`;
  }
  if (source === 'e') {
    const wanted = (['Offered', 'Running'] as const).filter((kind) => kinds.has(kind));
    if (wanted.length === 0) return null;
    return sql`select cast(seq as text) as key, timestamp, seq from node_events
      where node_id = ${nodeId} and ${engineOf(db).isOneOf('kind', wanted)}`;
  }
  if (source === 's') {
    const columns = { Status: 'status', LcmStatus: 'lcm_status' } as const;
    const wanted = (['Status', 'LcmStatus'] as const).filter((kind) => kinds.has(kind));
    if (wanted.length === 0) return null;
    const isWanted = sql.join(
      wanted.map((kind) => sql`${sql.ref(columns[kind])} is not null`),
      sql` or `,
    );
    return sql`select cast(id as text) as key, timestamp, id as seq from status_events
      where node_id = ${nodeId} and (${isWanted})`;
  }
  if (!kinds.has('Report')) return null;
  const outcome = sql`coalesce(in_desired_state, -1) * 2 + had_errors`;
  return sql`select id as key, timestamp, seq from (
      select id, timestamp, seq, ${outcome} as outcome,
        lag(${outcome}) over (order by timestamp, seq) as before
      from reports where node_id = ${nodeId}) told
    where before is null or before <> outcome`;
}

function isBehind({ timestamp, source, seq }: Place, own: Source): RawBuilder<unknown> {
  const [rank, ownRank] = [SOURCES.indexOf(source), SOURCES.indexOf(own)];
  if (ownRank < rank) return sql`timestamp <= ${timestamp}`;
  if (ownRank > rank) return sql`timestamp < ${timestamp}`;
  return sql`(timestamp < ${timestamp} or (timestamp = ${timestamp} and seq < ${seq}))`;
}

/** The newest entries, up to `take`, behind a place. */
export async function newestRows(
  db: Db,
  wanted: Wanted,
  { take, before }: { take: number; before: Place | null },
): Promise<TimelineRow[]> {
  const all: TimelineRow[] = [];
  for (const source of SOURCES) {
    const from = rowsOf(db, source, wanted);
    if (from === null) continue;
    const { rows } = await sql<Omit<TimelineRow, 'source'>>`select key, timestamp, seq from (${from}) entries
      where ${before === null ? sql`1 = 1` : isBehind(before, source)}
      order by timestamp desc, seq desc limit ${take}`.execute(db);
    for (const row of rows) all.push({ ...row, source });
  }
  const rank = ({ source }: Place) => SOURCES.indexOf(source);
  return all.sort((a, b) => b.timestamp - a.timestamp || rank(b) - rank(a) || b.seq - a.seq).slice(0, take);
}

export const idOf = ({ source, key }: TimelineRow): string => `${source}${key}`;

/** The place of an entry; null where the timeline has no such entry for this caller. */
export async function placeOf(db: Db, wanted: Wanted, id: string): Promise<Place | null> {
  const source = SOURCES.find((each) => id.startsWith(each));
  const from = source && rowsOf(db, source, wanted);
  if (!source || !from) return null;
  const { rows } = await sql<Place>`select timestamp, seq from (${from}) entries
    where key = ${id.slice(1)}`.execute(db);
  return rows[0] ? { ...rows[0], source } : null;
}
