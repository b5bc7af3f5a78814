/** Changes of scope types and values. Precedences stay without gaps, Default first and Node last. */

import type { Db } from '../db/database.ts';
import {
  listScopeTypes,
  orderedValuesOf,
  requireUnmoved,
  SCOPE_TYPES,
  SCOPE_VALUES,
  type ScopeTypeRow,
  type ScopeValueRow,
  shiftPrecedences,
} from '../db/scope-types.ts';
import { PARAMETER_WRITES } from '../domain/lock-names.ts';
import { isReservedScopeTypeName, isScopeOrder, NODE_SCOPE_TYPE_ID, scopeKey } from '../domain/scopes.ts';
import { conflict, invalid, invalidField, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { ParameterFileLookup } from '../resolve/parameter-files-of-scopes.ts';
import type { RingLookup } from '../resolve/ring-use.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { ScopeMoveTools } from '../versions/scope-moves.ts';
import { addScopeValue } from './define-scope-value.ts';
import { requireDoneAlone } from './protection.ts';

/** A scope type that is to be made. */
export interface NewScopeType {
  name: string;
  description: string | null;
  /** Whether a value must be defined before it is used. */
  valueMode: 'Unrestricted' | 'Restricted';
}

/** A value that is to be added to a scope type. */
export interface NewScopeValue {
  value: string;
  description: string | null;
}

/**
 * `PARAMETER_WRITES` is the lock of all who write parameter files or start rollouts. While it is held, none of them comes
 * between the question whether there is one and the change that depends on the answer.
 */
export interface ScopeTools extends ScopeMoveTools {
  hasParameterFiles: ParameterFileLookup;
  isRing: RingLookup;
}

/** @throws HawserError not_found, conflict `system_scope_type` */
export async function requireCustomType(db: Db, id: string): Promise<ScopeTypeRow> {
  const type = await SCOPE_TYPES.require(db, id);
  if (type.is_system === 1) {
    throw conflict('system_scope_type', 'The scope types Default and Node belong to the server');
  }
  return type;
}

export const inUse = (message: string) => conflict('in_use', message);

/** @throws HawserError invalid `reserved_name` */
export function requireFreeName(name: string): void {
  if (!isReservedScopeTypeName(name)) return;
  const message = 'This name has a meaning of its own in the repositories of parameters';
  throw invalid('reserved_name', message, [{ path: '/name', message, code: 'reserved_name' }]);
}

/** Places the new type just below Node. @throws HawserError invalid `reserved_name`, conflict `name_taken` */
export async function createScopeType(
  trx: Db,
  actor: Actor,
  { name, description, valueMode, id = newId() }: NewScopeType & { id?: string },
): Promise<ScopeTypeRow> {
  requireFreeName(name);
  await requireUnmoved(trx, null, name);
  const now = actor.at;
  const { precedence } = await SCOPE_TYPES.require(trx, NODE_SCOPE_TYPE_ID);
  await shiftPrecedences(trx, { from: precedence, by: 1, now });
  const type = await SCOPE_TYPES.insert(trx, {
    id,
    name,
    name_key: scopeKey(name),
    description,
    precedence,
    is_system: 0,
    is_enabled: 1,
    value_mode: valueMode,
    created_at: now,
    updated_at: now,
  });
  const details = { name, precedence, valueMode };
  await recordAudit(trx, actor, { action: 'scope_type.created', resourceId: type.id, details });
  return type;
}

/** @returns all types as they are @throws HawserError invalid unless `ids` is an order of all types */
export async function requireScopeOrder(db: Db, ids: readonly string[]): Promise<ScopeTypeRow[]> {
  const types = await listScopeTypes(db);
  const known = types.map(({ id }) => id);
  if (!isScopeOrder(ids, known))
    throw invalidField('/scopeTypeIds', 'Every scope type exactly once, Default first and Node last');
  return types;
}

/** Puts all types into another order. @throws HawserError as `requireScopeOrder`; conflict `change_set_required` */
export async function orderScopeTypes(
  tools: Pick<ScopeTools, 'database' | 'store'>,
  actor: Actor,
  scopeTypeIds: readonly string[],
): Promise<ScopeTypeRow[]> {
  const { database } = tools;
  await requireScopeOrder(database.read, scopeTypeIds);
  await requireDoneAlone(tools, actor, { kind: 'ReorderScopeTypes', scopeTypeIds });
  return database.write.transaction().execute((trx) => reorderScopeTypes(trx, actor, scopeTypeIds));
}

/** @returns all types in their new order @throws HawserError invalid unless `ids` is an order of all types */
export async function reorderScopeTypes(
  trx: Db,
  actor: Actor,
  ids: readonly string[],
): Promise<ScopeTypeRow[]> {
  const before = await requireScopeOrder(trx, ids);
  const known = new Map(before.map((type) => [type.id, type]));
  const moved = ids
    .map((id, precedence) => ({ id, precedence }))
    .filter(({ id }, at) => before[at]?.id !== id);
  if (moved.length === 0) return before;
  for (const { id, precedence } of moved) {
    await SCOPE_TYPES.update(trx, id, { precedence, updated_at: actor.at });
  }
  const details = { from: before.map(({ name }) => name), to: ids.map((id) => known.get(id)?.name) };
  await recordAudit(trx, actor, { action: 'scope_type.reordered', resourceId: null, details });
  return listScopeTypes(trx);
}

/** @throws HawserError not_found, conflict `not_a_system_scope_type` or `in_use` */
export async function requireSwitchable(
  { database, hasParameterFiles }: Pick<ScopeTools, 'database' | 'hasParameterFiles'>,
  id: string,
  isEnabled: boolean,
): Promise<ScopeTypeRow> {
  const type = await SCOPE_TYPES.require(database.read, id);
  if (type.is_system !== 1)
    throw conflict('not_a_system_scope_type', 'Only the scope types Default and Node can be switched');
  const scope = { scopeTypeId: id, scopeTypeName: type.name, value: null };
  const isSwitchedOff = !isEnabled && type.is_enabled === 1;
  if (isSwitchedOff && (await hasParameterFiles(scope, { publishedOnly: true })))
    throw inUse('It has published parameter files');
  return type;
}

/**
 * Switches a system type on or off. A custom type has a part in merging where a node is tagged with a value of it.
 * @throws HawserError not_found, conflict `not_a_system_scope_type`, `in_use` or `change_set_required`
 */
export function switchScopeType(
  tools: Pick<ScopeTools, 'database' | 'store' | 'hasParameterFiles' | 'locks'>,
  actor: Actor,
  id: string,
  isEnabled: boolean,
): Promise<ScopeTypeRow> {
  const { database } = tools;
  return tools.locks.run(PARAMETER_WRITES, async () => {
    const { name } = await requireSwitchable(tools, id, isEnabled);
    const kind = isEnabled ? 'EnableScopeType' : 'DisableScopeType';
    await requireDoneAlone(tools, actor, { kind, scopeTypeId: id });
    await database.transact(async (trx) => {
      const current = await SCOPE_TYPES.require(trx, id);
      if ((current.is_enabled === 1) === isEnabled) return;
      const action = isEnabled ? 'scope_type.enabled' : 'scope_type.disabled';
      await recordAudit(trx, actor, { action, resourceId: id, details: { name } });
      await SCOPE_TYPES.update(trx, id, { is_enabled: isEnabled ? 1 : 0, updated_at: actor.at });
    });
    return SCOPE_TYPES.require(database.read, id);
  });
}

/** The ids of a value and of its type, as the path names them. */
export interface ScopeValueTarget {
  scopeTypeId: string;
  id: string;
}

/**
 * The value, and the names by which the audit trail calls it.
 * @throws HawserError not_found for the type or the value
 */
export async function requireScopeValue(
  db: Db,
  { scopeTypeId, id }: ScopeValueTarget,
): Promise<{ value: ScopeValueRow; names: { scopeType: string; value: string } }> {
  const type = await SCOPE_TYPES.require(db, scopeTypeId);
  const value = await SCOPE_VALUES.require(db, id);
  if (value.scope_type_id !== scopeTypeId) throw notFound('No such value of this scope type');
  return { value, names: { scopeType: type.name, value: value.value } };
}

/** @throws HawserError not_found, conflict `system_scope_type` or `name_taken` */
export async function createScopeValue(
  trx: Db,
  actor: Actor,
  scopeTypeId: string,
  value: NewScopeValue,
): Promise<ScopeValueRow> {
  return addScopeValue(trx, actor, { scopeType: await requireCustomType(trx, scopeTypeId), ...value });
}

/**
 * @returns all values of the type in their new order
 * @throws HawserError not_found, conflict `system_scope_type`, invalid `incomplete_order` unless `ids` are all of them, once
 */
export async function reorderScopeValues(
  trx: Db,
  actor: Actor,
  scopeTypeId: string,
  ids: readonly string[],
): Promise<ScopeValueRow[]> {
  const { name } = await requireCustomType(trx, scopeTypeId);
  const before = await orderedValuesOf(trx, scopeTypeId);
  const known = new Map(before.map((value) => [value.id, value]));
  const isWhole = ids.length === known.size && new Set(ids).size === ids.length;
  if (!isWhole || !ids.every((id) => known.has(id))) {
    const message = 'All values of the scope type must be there, each once, and no others';
    throw invalid('incomplete_order', message, [
      { path: '/scopeValueIds', message, code: 'incomplete_order' },
    ]);
  }
  if (ids.every((id, at) => before[at]?.id === id)) return before;
  for (const [sort_order, id] of ids.entries())
    if (known.get(id)?.sort_order !== sort_order)
      await SCOPE_VALUES.update(trx, id, { sort_order, updated_at: actor.at });
  const values = await orderedValuesOf(trx, scopeTypeId);
  const details = { name, from: before.map(({ value }) => value), to: values.map(({ value }) => value) };
  await recordAudit(trx, actor, {
    action: 'scope_type.values_reordered',
    resourceId: scopeTypeId,
    details,
  });
  return values;
}
