/** Scope types and scope values as the API shows them. */

import { toTimestamp } from '../../lib/clock.ts';
import type { ScopeTypeRow, ScopeValueRow } from './queries.ts';

export function toScopeType(row: ScopeTypeRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    precedence: row.precedence,
    isSystem: row.is_system === 1,
    isEnabled: row.is_enabled === 1,
    valueMode: row.value_mode,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}

export function toScopeValue(row: ScopeValueRow) {
  return {
    id: row.id,
    scopeTypeId: row.scope_type_id,
    value: row.value,
    description: row.description,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}
