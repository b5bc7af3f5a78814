/** Adds a value to a scope type. */

import type { Db } from '../db/database.ts';
import {
  findScopeValue,
  requireUnmoved,
  SCOPE_VALUES,
  type ScopeTypeRow,
  type ScopeValueRow,
} from '../db/scope-types.ts';
import { scopeKey } from '../domain/scopes.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';

/** A value, the type that it is added to, and the id that it gets. */
export interface NewScopeValueRow {
  /** Default: a new one. */
  id?: string;
  scopeType: Pick<ScopeTypeRow, 'id' | 'name'>;
  /** A text that `SCOPE_NAME` matches. */
  value: string;
  description: string | null;
}

/** Adds the value as the last of its type, and its entry in the audit trail. @throws HawserError conflict `name_taken` */
export async function addScopeValue(
  trx: Db,
  actor: Actor,
  { id = newId(), scopeType, value, description }: NewScopeValueRow,
): Promise<ScopeValueRow> {
  await requireUnmoved(trx, scopeType.id, value);
  const times = { created_at: actor.at, updated_at: actor.at };
  const text = { value, value_key: scopeKey(value), description };
  const { last } = await trx
    .selectFrom('scope_values')
    .select(({ fn }) => fn.max('sort_order').as('last'))
    .where('scope_type_id', '=', scopeType.id)
    .executeTakeFirstOrThrow();
  const sort_order = last === null ? 0 : last + 1;
  const row = await SCOPE_VALUES.insert(trx, {
    id,
    scope_type_id: scopeType.id,
    ...text,
    sort_order,
    ...times,
  });
  const details = { scopeType: scopeType.name, value };
  await recordAudit(trx, actor, { action: 'scope_value.created', resourceId: row.id, details });
  return row;
}

/** Finds the value without regard to case, or adds it. */
export async function defineScopeValue(
  trx: Db,
  actor: Actor,
  scopeType: NewScopeValueRow['scopeType'],
  value: string,
): Promise<ScopeValueRow> {
  const known = await findScopeValue(trx, scopeType.id, value);
  return known ?? addScopeValue(trx, actor, { scopeType, value, description: null });
}
