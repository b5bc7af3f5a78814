/** Rows of protections. A thing that has none has no row. */

import { isProtecting, NO_PROTECTION, type Protection } from '../domain/protection.ts';
import { conflict } from '../lib/errors.ts';
import type { Db } from './database.ts';

/** What can be protected. */
export type ProtectedKind = 'configuration' | 'composite' | 'scopeValue';

const COLUMNS = {
  configuration: 'configuration_id',
  composite: 'composite_id',
  scopeValue: 'scope_value_id',
} as const satisfies Record<ProtectedKind, string>;

/** One thing of those that can be protected. */
export interface ProtectedId {
  on: ProtectedKind;
  id: string;
}

/** A thing that is protected, with its protection. */
export interface ProtectedThing extends ProtectedId {
  /** The name, or the text of a scope value. */
  name: string;
  /** The scope type of a value; null for others. */
  scopeType: { id: string; name: string } | null;
  protection: Protection;
  groupName: string | null;
}

interface Stored {
  approvals: number;
  groupId: string | null;
  byChangeSetOnly: number;
}

const toProtection = ({ approvals, groupId, byChangeSetOnly }: Stored): Protection => ({
  ...{ approvals, groupId, byChangeSetOnly: byChangeSetOnly === 1 },
});

/** All that is protected, in the order of the names. A site has few of these, and most have none. */
export async function listProtected(db: Db): Promise<ProtectedThing[]> {
  const rows = await db
    .selectFrom('protections as p')
    .leftJoin('configurations as c', 'c.id', 'p.configuration_id')
    .leftJoin('composites as k', 'k.id', 'p.composite_id')
    .leftJoin('scope_values as v', 'v.id', 'p.scope_value_id')
    .leftJoin('scope_types as t', 't.id', 'v.scope_type_id')
    .leftJoin('groups as g', 'g.id', 'p.group_id')
    .select(['p.configuration_id as configurationId', 'p.composite_id as compositeId'])
    .select(['p.scope_value_id as scopeValueId', 'p.approvals', 'p.group_id as groupId'])
    .select(['p.by_change_set_only as byChangeSetOnly', 'g.name as groupName'])
    .select(['c.name as configuration', 'k.name as composite', 'v.value', 't.id as typeId', 't.name as type'])
    .execute();
  const things = rows.flatMap((row): ProtectedThing[] => {
    const protection = toProtection(row);
    if (!isProtecting(protection)) return [];
    const rest = { scopeType: null, protection, groupName: row.groupName };
    if (row.configurationId !== null)
      return [{ on: 'configuration', id: row.configurationId, name: row.configuration ?? '', ...rest }];
    if (row.compositeId !== null)
      return [{ on: 'composite', id: row.compositeId, name: row.composite ?? '', ...rest }];
    const scopeType = { id: row.typeId ?? '', name: row.type ?? '' };
    return [{ on: 'scopeValue', id: row.scopeValueId ?? '', name: row.value ?? '', ...rest, scopeType }];
  });
  return things.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ on, name, id }: ProtectedThing) => `${on} ${name} ${id}`;

export async function findProtection(db: Db, thing: ProtectedId): Promise<Protection> {
  return (await findProtections(db, thing.on, [thing.id])).get(thing.id) ?? NO_PROTECTION;
}

/** Those of things of one kind that have one, by their ids. */
export async function findProtections(
  db: Db,
  on: ProtectedKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Protection>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('protections')
    .select(['approvals', 'group_id as groupId', 'by_change_set_only as byChangeSetOnly'])
    .select(`${COLUMNS[on]} as id`)
    .where(COLUMNS[on], 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id ?? '', toProtection(row)]));
}

export async function saveProtection(
  trx: Db,
  { on, id }: ProtectedId,
  { approvals, groupId, byChangeSetOnly }: Protection,
): Promise<void> {
  await trx.deleteFrom('protections').where(COLUMNS[on], '=', id).execute();
  if (approvals === 0 && groupId === null && !byChangeSetOnly) return;
  const none = { configuration_id: null, composite_id: null, scope_value_id: null };
  const row = { approvals, group_id: groupId, by_change_set_only: Number(byChangeSetOnly) };
  await trx
    .insertInto('protections')
    .values({ ...none, ...row, [COLUMNS[on]]: id })
    .execute();
}

/**
 * Refuses to do away with what is protected, or with its protection.
 * @throws HawserError conflict `change_set_required`
 */
export async function requireUnprotected(db: Db, isMeant: (thing: ProtectedThing) => boolean): Promise<void> {
  const thing = (await listProtected(db)).find(isMeant);
  if (thing !== undefined) throw weakensProtection(thing.name);
}

/** The refusal of a single deed that would leave something less protected. */
export const weakensProtection = (name: string) =>
  conflict(
    'change_set_required',
    `${name} is protected: make the protection weaker by a change set first, with the deed SetProtection (POST /api/v1/change-sets)`,
  );

export async function isGroupNamed(db: Db, groupId: string): Promise<boolean> {
  const row = db.selectFrom('protections').select('group_id').where('group_id', '=', groupId);
  return (await row.limit(1).executeTakeFirst()) !== undefined;
}
