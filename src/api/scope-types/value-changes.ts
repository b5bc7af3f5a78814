/** Changes of scope values. */

import type { z } from 'zod';
import { orConflict } from '../../db/errors.ts';
import type { Db } from '../../db/open.ts';
import { PARAMETER_WRITES } from '../../domain/lock-names.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { inUse, requireCustomType, requireScopeType, type ScopeTools } from './changes.ts';
import {
  addScopeValue,
  deleteScopeValueRow,
  describeScopeValueRow,
  findScopeValueById,
  isValueTagged,
  type ScopeTypeRow,
  type ScopeValueRow,
} from './queries.ts';
import type { NewScopeValue } from './schemas.ts';

/** Names a value within its type, as the path does. */
export interface ScopeValueTarget {
  scopeTypeId: string;
  id: string;
}

/** @throws HawserError not_found for the type or the value */
export async function requireScopeValue(
  db: Db,
  target: ScopeValueTarget,
): Promise<{ type: ScopeTypeRow; value: ScopeValueRow }> {
  const type = await requireScopeType(db, target.scopeTypeId);
  const value = await findScopeValueById(db, target);
  if (!value) throw notFound('No such value of this scope type');
  return { type, value };
}

/** @throws HawserError not_found, conflict `system_scope_type` or `name_taken` */
export function createScopeValue(
  { database }: ScopeTools,
  actor: Actor,
  scopeTypeId: string,
  wish: z.output<typeof NewScopeValue>,
): Promise<ScopeValueRow> {
  const taken = conflict('name_taken', 'The scope type has this value already');
  return database.write.transaction().execute(async (trx) => {
    const scopeType = await requireCustomType(trx, scopeTypeId);
    return orConflict('scope_values.value_key', taken, () =>
      addScopeValue(trx, actor, { scopeType, ...wish }),
    );
  });
}

/** @throws HawserError not_found */
export function describeScopeValue(
  { database }: ScopeTools,
  actor: Actor,
  target: ScopeValueTarget,
  description: string | null,
): Promise<ScopeValueRow> {
  return database.write.transaction().execute(async (trx) => {
    const { type, value } = await requireScopeValue(trx, target);
    if (value.description === description) return value;
    const change = { from: value.description, to: description };
    const details = { scopeType: type.name, value: value.value, description: change };
    await recordAudit(trx, actor, { action: 'scope_value.updated', resourceId: value.id, details });
    return describeScopeValueRow(trx, value.id, { description, updated_at: actor.at });
  });
}

/** @throws HawserError not_found, conflict `in_use` */
export function deleteScopeValue(tools: ScopeTools, actor: Actor, target: ScopeValueTarget): Promise<void> {
  return tools.locks.run(PARAMETER_WRITES, () => deleteUnused(tools, actor, target));
}

async function deleteUnused(
  { database, hasParameterFiles }: ScopeTools,
  actor: Actor,
  target: ScopeValueTarget,
): Promise<void> {
  const { type, value } = await requireScopeValue(database.read, target);
  const scope = { scopeTypeId: type.id, scopeTypeName: type.name, value: value.value };
  if (await hasParameterFiles(scope, { publishedOnly: false })) throw inUse('It has parameter files');
  await database.write.transaction().execute(async (trx) => {
    await requireScopeValue(trx, target);
    if (await isValueTagged(trx, value.id)) throw inUse('A node is tagged with it');
    await deleteScopeValueRow(trx, value.id);
    const details = { scopeType: type.name, value: value.value };
    await recordAudit(trx, actor, { action: 'scope_value.deleted', resourceId: value.id, details });
  });
}
