/** Reads and writes of scope types and scope values. */

import type { Selectable } from 'kysely';
import { scopeKey } from '../domain/scopes.ts';
import { conflict } from '../lib/errors.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { Table } from './rows.ts';
import type { ScopeTypesTable, ScopeValuesTable } from './schema.ts';
import { listScopeMoves } from './scope-moves.ts';

export type ScopeTypeRow = Selectable<ScopeTypesTable>;
export type ScopeValueRow = Selectable<ScopeValuesTable>;

/** When a scope type is deleted, the database deletes its values too. */
export const SCOPE_TYPES = new Table('scope_types', {
  order: ['precedence'],
  missing: 'No such scope type',
  unique: {
    column: 'scope_types.name_key',
    taken: () => conflict('name_taken', 'A scope type has this name already'),
  },
});

export const SCOPE_VALUES = new Table('scope_values', {
  order: ['scope_type_id', 'value'],
  missing: 'No such value of this scope type',
  unique: {
    column: 'scope_values.value_key',
    taken: () => conflict('name_taken', 'The scope type has this value already'),
  },
});

/** All scope types by precedence. There are few. */
export function listScopeTypes(db: Db): Promise<ScopeTypeRow[]> {
  return db.selectFrom('scope_types').selectAll().orderBy('precedence').execute();
}

/** The case of the name does not matter: names are unique without regard to it. */
export function findScopeTypeByName(db: Db, name: string): Promise<ScopeTypeRow | undefined> {
  return db.selectFrom('scope_types').selectAll().where('name_key', '=', scopeKey(name)).executeTakeFirst();
}

/** Moves every scope type at this precedence or above it up by one step, or down with -1. */
export async function shiftPrecedences(
  db: Db,
  { from, by, now }: { from: number; by: 1 | -1; now: number },
): Promise<void> {
  await db
    .updateTable('scope_types')
    .set((old) => ({ precedence: old('precedence', '+', by), updated_at: now }))
    .where('precedence', '>=', from)
    .execute();
}

/** Whether any node is tagged with the scope value, or with any value of the scope type. */
export async function isTagged(
  db: Db,
  column: 'scope_type_id' | 'scope_value_id',
  id: string,
): Promise<boolean> {
  const tags = db.selectFrom('node_tags').select('node_id').where(column, '=', id).limit(1);
  return (await tags.executeTakeFirst()) !== undefined;
}

/** Selects the values of the type by their text, as lists have them. */
export function valuesOf(db: Db, scopeTypeId: string) {
  return db.selectFrom('scope_values').selectAll().where('scope_type_id', '=', scopeTypeId).orderBy('value');
}

/** The values of the type in their order. */
export async function orderedValuesOf(db: Db, scopeTypeId: string): Promise<ScopeValueRow[]> {
  const values = await valuesOf(db, scopeTypeId).execute();
  return values.sort((a, b) => a.sort_order - b.sort_order);
}

/** The case of the value does not matter: values are unique without regard to it. The row has the defined spelling. */
export function findScopeValue(
  db: Db,
  scopeTypeId: string,
  value: string,
): Promise<ScopeValueRow | undefined> {
  return valuesOf(db, scopeTypeId).where('value_key', '=', scopeKey(value)).executeTakeFirst();
}

/** Of these values of the type those that exist, as `findScopeValue` finds one. */
export function findScopeValues(
  db: Db,
  scopeTypeId: string,
  values: readonly string[],
): Promise<ScopeValueRow[]> {
  return valuesOf(db, scopeTypeId)
    .where(engineOf(db).isOneOf('value_key', values.map(scopeKey)))
    .execute();
}

/** The id of the value's scope type, or undefined where there is no such value. */
export async function findTypeOfValue(db: Db, scopeValueId: string): Promise<string | undefined> {
  return (await SCOPE_VALUES.find(db, scopeValueId))?.scope_type_id;
}

/**
 * A name that a deed has cut off in the middle may still have files, which must not become those of another scope.
 * @param scopeTypeId null for the name of a type
 * @throws HawserError conflict `name_taken`
 */
export async function requireUnmoved(db: Db, scopeTypeId: string | null, name: string): Promise<void> {
  const isIt = (text: string | null) => text !== null && scopeKey(text) === scopeKey(name);
  const open = (await listScopeMoves(db)).filter(({ done_at }) => done_at === null);
  const isMoved = open.some(
    ({ scope_type_id, scope_value_id, from_name, to_name }) =>
      (scopeTypeId === null
        ? scope_value_id === null
        : scope_value_id !== null && scope_type_id === scopeTypeId) &&
      (isIt(from_name) || isIt(to_name)),
  );
  if (isMoved) throw conflict('name_taken', 'A scope is being given or is losing this name; try again later');
}
