/** Reads and writes of scope types and scope values. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { ScopeTypesTable, ScopeValuesTable } from '../../db/schema.ts';
import { scopeKey } from '../../domain/scopes.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';

export type ScopeTypeRow = Selectable<ScopeTypesTable>;
export type ScopeValueRow = Selectable<ScopeValuesTable>;

/** All of them by precedence; there are few. */
export function listScopeTypes(db: Db): Promise<ScopeTypeRow[]> {
  return db.selectFrom('scope_types').selectAll().orderBy('precedence').execute();
}

export function findScopeType(db: Db, id: string): Promise<ScopeTypeRow | undefined> {
  return db.selectFrom('scope_types').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Looks without regard to case, as names are unique that way. */
export function findScopeTypeByName(db: Db, name: string): Promise<ScopeTypeRow | undefined> {
  return db.selectFrom('scope_types').selectAll().where('name_key', '=', scopeKey(name)).executeTakeFirst();
}

export function insertScopeType(db: Db, type: Omit<ScopeTypeRow, 'name_key'>): Promise<ScopeTypeRow> {
  return db
    .insertInto('scope_types')
    .values({ ...type, name_key: scopeKey(type.name) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function updateScopeType(
  db: Db,
  id: string,
  change: Partial<Pick<ScopeTypeRow, 'description' | 'is_enabled' | 'precedence'>> & { updated_at: number },
): Promise<ScopeTypeRow> {
  return db
    .updateTable('scope_types')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
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

/** The type's values go with it. */
export async function deleteScopeTypeRow(db: Db, id: string): Promise<void> {
  await db.deleteFrom('scope_types').where('id', '=', id).execute();
}

/** Whether any node is tagged with a value of the type. */
export async function isTypeTagged(db: Db, scopeTypeId: string): Promise<boolean> {
  const tag = await db
    .selectFrom('node_tags')
    .select('node_id')
    .where('scope_type_id', '=', scopeTypeId)
    .limit(1)
    .executeTakeFirst();
  return tag !== undefined;
}

export async function isValueTagged(db: Db, scopeValueId: string): Promise<boolean> {
  const tag = await db
    .selectFrom('node_tags')
    .select('node_id')
    .where('scope_value_id', '=', scopeValueId)
    .limit(1)
    .executeTakeFirst();
  return tag !== undefined;
}

/** A page of the type's values, by value. */
export async function listScopeValues(
  db: Db,
  scopeTypeId: string,
  { take, skip }: { take: number; skip: number },
) {
  const total = await countScopeValues(db, scopeTypeId);
  const rows = await db
    .selectFrom('scope_values')
    .selectAll()
    .where('scope_type_id', '=', scopeTypeId)
    .orderBy('value')
    .limit(take)
    .offset(skip)
    .execute();
  return { rows, total };
}

export async function countScopeValues(db: Db, scopeTypeId: string): Promise<number> {
  const { total } = await db
    .selectFrom('scope_values')
    .select((of) => of.fn.countAll<number>().as('total'))
    .where('scope_type_id', '=', scopeTypeId)
    .executeTakeFirstOrThrow();
  return total;
}

export function findScopeValueById(
  db: Db,
  { scopeTypeId, id }: { scopeTypeId: string; id: string },
): Promise<ScopeValueRow | undefined> {
  return db
    .selectFrom('scope_values')
    .selectAll()
    .where('id', '=', id)
    .where('scope_type_id', '=', scopeTypeId)
    .executeTakeFirst();
}

/** Looks without regard to case, as values are unique that way; the row has the spelling that counts. */
export function findScopeValue(
  db: Db,
  scopeTypeId: string,
  value: string,
): Promise<ScopeValueRow | undefined> {
  return db
    .selectFrom('scope_values')
    .selectAll()
    .where('scope_type_id', '=', scopeTypeId)
    .where('value_key', '=', scopeKey(value))
    .executeTakeFirst();
}

/** The scope type's id; undefined for an unknown value. */
export async function findTypeOfValue(db: Db, scopeValueId: string): Promise<string | undefined> {
  const value = await db
    .selectFrom('scope_values')
    .select('scope_type_id')
    .where('id', '=', scopeValueId)
    .executeTakeFirst();
  return value?.scope_type_id;
}

export interface NewScopeValueRow {
  scopeType: Pick<ScopeTypeRow, 'id' | 'name'>;
  /** As `SCOPE_NAME` allows. */
  value: string;
  description: string | null;
}

/** Adds the value and its entry in the audit trail. */
export async function addScopeValue(
  trx: Db,
  actor: Actor,
  { scopeType, value, description }: NewScopeValueRow,
): Promise<ScopeValueRow> {
  const row = await trx
    .insertInto('scope_values')
    .values({
      id: newId(),
      scope_type_id: scopeType.id,
      value,
      value_key: scopeKey(value),
      description,
      created_at: actor.at,
      updated_at: actor.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const details = { scopeType: scopeType.name, value };
  await recordAudit(trx, actor, { action: 'scope_value.created', resourceId: row.id, details });
  return row;
}

/** The value that is there in any case of its letters, else a new one; in the caller's transaction. */
export async function defineScopeValue(
  trx: Db,
  actor: Actor,
  scopeType: NewScopeValueRow['scopeType'],
  value: string,
): Promise<ScopeValueRow> {
  const known = await findScopeValue(trx, scopeType.id, value);
  return known ?? addScopeValue(trx, actor, { scopeType, value, description: null });
}

export function describeScopeValueRow(
  db: Db,
  id: string,
  change: { description: string | null; updated_at: number },
): Promise<ScopeValueRow> {
  return db
    .updateTable('scope_values')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteScopeValueRow(db: Db, id: string): Promise<void> {
  await db.deleteFrom('scope_values').where('id', '=', id).execute();
}
