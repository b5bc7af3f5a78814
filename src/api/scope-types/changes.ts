/** Changes of scope types: what keeps precedences dense, Default first and Node last. */

import type { z } from 'zod';
import { orConflict } from '../../db/errors.ts';
import type { Database, Db } from '../../db/open.ts';
import { PARAMETER_WRITES } from '../../domain/lock-names.ts';
import { isReservedScopeTypeName, isScopeOrder, NODE_SCOPE_TYPE_ID } from '../../domain/scopes.ts';
import { conflict, invalid, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Locks } from '../../lib/locks.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import {
  countScopeValues,
  deleteScopeTypeRow,
  findScopeType,
  insertScopeType,
  isTypeTagged,
  listScopeTypes,
  type ScopeTypeRow,
  shiftPrecedences,
  updateScopeType,
} from './queries.ts';
import type { NewScopeType } from './schemas.ts';

export interface ScopeTools {
  database: Database;
  hasParameterFiles: ParameterFileLookup;
  /** Shared by all who write parameter files, so that none comes between the question and what follows from it. */
  locks: Locks;
}

/** Whether any configuration has parameter files of the scope type, or of the one value if it is not null. */
export type ParameterFileLookup = (
  scope: { scopeTypeId: string; scopeTypeName: string; value: string | null },
  which: { publishedOnly: boolean },
) => Promise<boolean>;

/** @throws HawserError not_found */
export async function requireScopeType(db: Db, id: string): Promise<ScopeTypeRow> {
  const type = await findScopeType(db, id);
  if (!type) throw notFound('No such scope type');
  return type;
}

/** @throws HawserError not_found, conflict `system_scope_type` */
export async function requireCustomType(db: Db, id: string): Promise<ScopeTypeRow> {
  const type = await requireScopeType(db, id);
  if (type.is_system === 1) {
    throw conflict('system_scope_type', 'The scope types Default and Node belong to the server');
  }
  return type;
}

export const inUse = (message: string) => conflict('in_use', message);

/** Places the new type just below Node. @throws HawserError invalid `reserved_name`, conflict `name_taken` */
export async function createScopeType(
  { database }: ScopeTools,
  actor: Actor,
  { name, description, valueMode }: z.output<typeof NewScopeType>,
): Promise<ScopeTypeRow> {
  if (isReservedScopeTypeName(name)) {
    const message = 'This name has a meaning of its own in the repositories of parameters';
    throw invalid('reserved_name', message, [{ path: '/name', message, code: 'reserved_name' }]);
  }
  const now = actor.at;
  const taken = conflict('name_taken', 'A scope type has this name already');
  return database.write.transaction().execute(async (trx) => {
    const { precedence } = await requireScopeType(trx, NODE_SCOPE_TYPE_ID);
    await shiftPrecedences(trx, { from: precedence, by: 1, now });
    const type = await orConflict('scope_types.name_key', taken, () =>
      insertScopeType(trx, {
        id: newId(),
        name,
        description,
        precedence,
        is_system: 0,
        is_enabled: 1,
        value_mode: valueMode,
        created_at: now,
        updated_at: now,
      }),
    );
    const details = { name, precedence, valueMode };
    await recordAudit(trx, actor, { action: 'scope_type.created', resourceId: type.id, details });
    return type;
  });
}

/** @throws HawserError not_found, conflict `system_scope_type` */
export function describeScopeType(
  { database }: ScopeTools,
  actor: Actor,
  id: string,
  description: string | null,
): Promise<ScopeTypeRow> {
  return database.write.transaction().execute(async (trx) => {
    const type = await requireCustomType(trx, id);
    if (type.description === description) return type;
    const details = { name: type.name, description: { from: type.description, to: description } };
    await recordAudit(trx, actor, { action: 'scope_type.updated', resourceId: id, details });
    return updateScopeType(trx, id, { description, updated_at: actor.at });
  });
}

/** @returns all types in their new order @throws HawserError invalid unless `ids` is an order of all types */
export function reorderScopeTypes(
  { database }: ScopeTools,
  actor: Actor,
  ids: readonly string[],
): Promise<ScopeTypeRow[]> {
  return database.write.transaction().execute(async (trx) => {
    const before = await listScopeTypes(trx);
    const known = new Map(before.map((type) => [type.id, type]));
    if (!isScopeOrder(ids, [...known.keys()])) {
      const rule = 'Every scope type exactly once, Default first and Node last';
      throw invalidField('/scopeTypeIds', rule);
    }
    const moved = ids.flatMap((id, precedence) =>
      before[precedence]?.id === id ? [] : [{ id, precedence }],
    );
    if (moved.length === 0) return before;
    for (const { id, precedence } of moved) {
      await updateScopeType(trx, id, { precedence, updated_at: actor.at });
    }
    const details = { from: before.map(({ name }) => name), to: ids.map((id) => known.get(id)?.name) };
    await recordAudit(trx, actor, { action: 'scope_type.reordered', resourceId: null, details });
    return listScopeTypes(trx);
  });
}

/** Its values go with it. @throws HawserError not_found, conflict `system_scope_type` or `in_use` */
export function deleteScopeType(tools: ScopeTools, actor: Actor, id: string): Promise<void> {
  return tools.locks.run(PARAMETER_WRITES, () => deleteUnused(tools, actor, id));
}

async function deleteUnused(
  { database, hasParameterFiles }: ScopeTools,
  actor: Actor,
  id: string,
): Promise<void> {
  const { name } = await requireCustomType(database.read, id);
  const scope = { scopeTypeId: id, scopeTypeName: name, value: null };
  if (await hasParameterFiles(scope, { publishedOnly: false })) throw inUse('It has parameter files');
  await database.write.transaction().execute(async (trx) => {
    const { precedence } = await requireCustomType(trx, id);
    if (await isTypeTagged(trx, id)) throw inUse('A node is tagged with a value of it');
    const details = { name, valueCount: await countScopeValues(trx, id) };
    await deleteScopeTypeRow(trx, id);
    await shiftPrecedences(trx, { from: precedence + 1, by: -1, now: actor.at });
    await recordAudit(trx, actor, { action: 'scope_type.deleted', resourceId: id, details });
  });
}

/**
 * Switches a system type on or off; a custom type has a part in merging where a node is tagged with a value of it.
 * @throws HawserError not_found, conflict `not_a_system_scope_type` or `in_use`
 */
export function switchScopeType(
  tools: ScopeTools,
  actor: Actor,
  id: string,
  isEnabled: boolean,
): Promise<ScopeTypeRow> {
  return tools.locks.run(PARAMETER_WRITES, () => switchUnused(tools, actor, id, isEnabled));
}

async function switchUnused(
  { database, hasParameterFiles }: ScopeTools,
  actor: Actor,
  id: string,
  isEnabled: boolean,
): Promise<ScopeTypeRow> {
  const type = await requireScopeType(database.read, id);
  if (type.is_system !== 1) {
    throw conflict('not_a_system_scope_type', 'Only the scope types Default and Node can be switched');
  }
  const scope = { scopeTypeId: id, scopeTypeName: type.name, value: null };
  const isSwitchedOff = !isEnabled && type.is_enabled === 1;
  if (isSwitchedOff && (await hasParameterFiles(scope, { publishedOnly: true }))) {
    throw inUse('It has published parameter files');
  }
  return database.write.transaction().execute(async (trx) => {
    const current = await requireScopeType(trx, id);
    if ((current.is_enabled === 1) === isEnabled) return current;
    const action = isEnabled ? 'scope_type.enabled' : 'scope_type.disabled';
    await recordAudit(trx, actor, { action, resourceId: id, details: { name: type.name } });
    return updateScopeType(trx, id, { is_enabled: isEnabled ? 1 : 0, updated_at: actor.at });
  });
}
