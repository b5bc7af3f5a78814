/** Writes scope types, their values and the tags of nodes into the database of a site. */

import type { Database } from '../../src/db/database.ts';
import { NODE_SCOPE_TYPE_ID } from '../../src/domain/scopes.ts';
import { newId } from '../../src/lib/ids.ts';
import { inBatches } from './fleet.ts';

export interface SiteScopeType {
  name: string;
  values: readonly string[];
  /** Default: Unrestricted. */
  valueMode?: 'Restricted';
  /** The place of the value with which the node at this place of `nodeIds` is tagged. */
  placeOf(nodeAt: number): number;
}

/** @returns the ids of the scope types by name */
export async function insertScopeTypes(
  database: Database,
  types: readonly SiteScopeType[],
  nodeIds: readonly string[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  await database.write.transaction().execute(async (trx) => {
    const precedence = types.length + 1;
    await trx.updateTable('scope_types').set({ precedence }).where('id', '=', NODE_SCOPE_TYPE_ID).execute();
    for (const [at, { name, values, valueMode, placeOf }] of types.entries()) {
      const type = { ...scopeTypeRow(name, at + 1), ...(valueMode && { value_mode: valueMode }) };
      ids.set(name, type.id);
      await trx.insertInto('scope_types').values(type).execute();
      const rows = values.map((value) => scopeValueRow(type.id, value));
      for (const batch of inBatches(rows)) await trx.insertInto('scope_values').values(batch).execute();
      const tags = nodeIds.map((node_id, nodeAt) => ({
        ...{ node_id, scope_type_id: type.id, assigned_at: type.created_at },
        scope_value_id: rows[placeOf(nodeAt)]?.id ?? '',
      }));
      for (const batch of inBatches(tags)) await trx.insertInto('node_tags').values(batch).execute();
    }
  });
  return ids;
}

function scopeTypeRow(name: string, precedence: number) {
  const now = Date.now();
  return {
    ...{ id: newId(), name, name_key: name.toLowerCase(), description: null, precedence },
    ...{ is_system: 0, is_enabled: 1, value_mode: 'Unrestricted' as const, created_at: now, updated_at: now },
  };
}

function scopeValueRow(scopeTypeId: string, value: string) {
  const now = Date.now();
  return {
    ...{ id: newId(), scope_type_id: scopeTypeId, value, value_key: value, description: null },
    ...{ created_at: now, updated_at: now },
  };
}
