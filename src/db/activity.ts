/**
 * Reads the entries of the audit trail about what a user may read, newest first. Entries about all resources of a kind are
 * found by time, entries about single resources by their ids. Neither way passes entries that the user may not see.
 */

import { type Selectable, sql } from 'kysely';
import type { ActivityType } from '../domain/activity-summary.ts';
import { Pace } from '../lib/pace.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { Place } from './history.ts';
import type { AuditEntriesTable } from './schema.ts';

export type ActivityRow = Selectable<AuditEntriesTable>;

type VisibleIds = 'all' | readonly string[];

/** Which entries a user may see: of each kind those about every resource, about those with these ids, or none. */
export type Visible = Readonly<Record<Exclude<ActivityType, 'ChangeSet'>, VisibleIds>>;

/** Which of the change sets with these ids, as the trail has them, the user may see. Only those of entries that are near are asked for. */
export type SetSight = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Reading so many places from an index takes a millisecond or two. */
const PLACES_AT_ONCE = 2_000;

export function findEntry(db: Db, id: string): Promise<ActivityRow | undefined> {
  return db.selectFrom('audit_entries').selectAll().where('id', '=', id).executeTakeFirst();
}

export function isVisible(
  visible: Visible,
  entry: Pick<ActivityRow, 'resource_type' | 'resource_id'>,
): boolean {
  const ids = visible[entry.resource_type as keyof Visible] as VisibleIds | undefined;
  if (ids === undefined || entry.resource_id === null) return false;
  return ids === 'all' || ids.includes(entry.resource_id);
}

/**
 * The newest entries that the user may see, up to `take`.
 * @param before only entries that come behind this place
 * @param sight absent where entries about change sets are left out
 */
export async function listVisible(
  db: Db,
  visible: Visible,
  { take, before, sight }: { take: number; before: Place | undefined; sight?: SetSight },
): Promise<ActivityRow[]> {
  const pace = new Pace();
  const newest = new Newest(take);
  const kinds = Object.entries(visible) as [ActivityType, VisibleIds][];
  for (const [type, ids] of kinds) {
    if (ids === 'all') newest.add(await placesOfKind(db, type, { take, before }));
  }
  const atOnce = Math.max(1, Math.floor(PLACES_AT_ONCE / take));
  for (const [type, ids] of kinds) {
    if (ids === 'all') continue;
    for (let at = 0; at < ids.length; at += atOnce) {
      const some = ids.slice(at, at + atOnce);
      newest.add(await placesOfResources(db, type, some, { take, before, after: newest.last }));
      if (pace.isDue) await pace.rest();
    }
  }
  if (sight) await addSets(db, newest, sight, { take, before });
  const seqs = newest.places.map(({ seq }) => seq);
  const rows = db.selectFrom('audit_entries').selectAll().where('seq', 'in', seqs);
  return seqs.length === 0 ? [] : rows.orderBy('timestamp', 'desc').orderBy('seq', 'desc').execute();
}

/** Goes through the entries about change sets until nothing further would be among the newest. */
async function addSets(db: Db, newest: Newest, sight: SetSight, { take, before }: Part): Promise<void> {
  const pace = new Pace();
  const known = new Map<string, boolean>();
  for (let last = before; ; ) {
    const places = await placesOfKind(db, 'ChangeSet', { take, before: last, after: newest.last });
    const unknown = [...new Set(places.map(({ resource_id }) => resource_id))].filter((id) => !known.has(id));
    const seen = await sight(unknown);
    for (const id of unknown) known.set(id, seen.has(id));
    newest.add(places.filter(({ resource_id }) => known.get(resource_id)));
    last = places.at(-1);
    if (places.length < take) return;
    if (pace.isDue) await pace.rest();
  }
}

/** The newest of the places that were added. */
class Newest {
  places: readonly Place[] = [];
  private readonly take: number;

  constructor(take: number) {
    this.take = take;
  }

  /** The place that a further one must come before to be among the newest; undefined while any place is. */
  get last(): Place | undefined {
    return this.places[this.take - 1];
  }

  add(places: readonly Place[]): void {
    const newestFirst = (a: Place, b: Place) => b.timestamp - a.timestamp || b.seq - a.seq;
    this.places = [...this.places, ...places].sort(newestFirst).slice(0, this.take);
  }
}

interface Part {
  take: number;
  before: Place | undefined;
  after?: Place | undefined;
}

const isBehind = (place: Place | undefined) =>
  place === undefined
    ? sql``
    : sql`and timestamp <= ${place.timestamp} and (timestamp, seq) < (${place.timestamp}, ${place.seq})`;
const isAhead = (place: Place | undefined) =>
  place === undefined
    ? sql``
    : sql`and timestamp >= ${place.timestamp} and (timestamp, seq) > (${place.timestamp}, ${place.seq})`;
const NEWEST_FIRST = sql`order by timestamp desc, seq desc`;

/** Values that stand in the statement itself, because an index of some rows is used only for conditions that are known. */
const isOfKind = (type: ActivityType) => sql`resource_type = ${sql.lit(type)}`;

/** Left to itself, SQLite would take the index by type, which has refused registrations too. */
const indexOf = (db: Db, type: ActivityType) =>
  type === 'Node' ? engineOf(db).indexedBy('audit_entries_of_nodes') : sql``;

async function placesOfKind(
  db: Db,
  type: ActivityType,
  { take, before, after }: Part,
): Promise<readonly (Place & { resource_id: string })[]> {
  const { rows } = await sql<Place & { resource_id: string }>`
    select timestamp, seq, resource_id from audit_entries ${indexOf(db, type)}
    where ${isOfKind(type)} and resource_id is not null ${isBehind(before)} ${isAhead(after)}
    ${NEWEST_FIRST} limit ${take}`.execute(db);
  return rows;
}

async function placesOfResources(
  db: Db,
  type: ActivityType,
  ids: readonly string[],
  { take, before, after }: Part,
): Promise<readonly Place[]> {
  const engine = engineOf(db);
  const newest = engine.selectOfEach({
    list: engine.texts(ids),
    table: 'audit_entries',
    key: 'seq',
    columns: ['timestamp', 'seq'],
    rows: sql`from audit_entries
      where ${isOfKind(type)} and resource_id = given.value ${isBehind(before)} ${isAhead(after)}
      ${NEWEST_FIRST} limit ${take}`,
  });
  return (await sql<Place>`${newest}`.execute(db)).rows;
}
