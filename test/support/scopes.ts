/** Makes scope types, values and tags through the API, and reads what the audit trail says about them. */

import { withDatabase } from './database.ts';
import type { Hawser } from './hawser.ts';

export const SCOPE_TYPES = '/api/v1/scope-types';
export const DEFAULT_ID = '00000000-0000-0000-0000-000000000001';
export const NODE_ID = '00000000-0000-0000-0000-000000000002';

/** @returns the id of the new scope type */
export async function createScopeType(
  hawser: Hawser,
  name: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  return idOf(await hawser.admin.post(SCOPE_TYPES, { name, ...more }));
}

/** @returns the id of the new value */
export async function createScopeValue(hawser: Hawser, scopeTypeId: string, value: string): Promise<string> {
  return idOf(await hawser.admin.post(`${SCOPE_TYPES}/${scopeTypeId}/values`, { value }));
}

export async function tagNode(hawser: Hawser, nodeId: string, scopeValueId: string): Promise<void> {
  const reply = await hawser.admin.post(`/api/v1/nodes/${nodeId}/tags`, { scopeValueId });
  if (reply.status !== 201) throw new Error(`tagging answered ${reply.status} ${reply.text}`);
}

function idOf(reply: { status: number; text: string; json: { id: string } }): string {
  if (reply.status !== 201) throw new Error(`creation answered ${reply.status} ${reply.text}`);
  return reply.json.id;
}

/** Restores a new server's scopes and an empty audit trail, which is faster than starting a new server. */
export async function clearScopes(hawser: Hawser): Promise<void> {
  await withDatabase(hawser, ({ write }) =>
    write.transaction().execute(async (trx) => {
      await trx.deleteFrom('node_tags').execute();
      await trx.deleteFrom('scope_types').where('is_system', '=', 0).execute();
      await trx.updateTable('scope_types').set({ is_enabled: 1 }).execute();
      await trx.updateTable('scope_types').set({ precedence: 1 }).where('id', '=', NODE_ID).execute();
      await trx.deleteFrom('audit_entries').execute();
    }),
  );
}

/**
 * Makes a tagged node.
 * @returns the path parameters that name its scope type, value and tag
 */
export async function prepareScopes(hawser: Hawser, nodeId: string): Promise<Record<string, string>> {
  const scopeTypeId = await createScopeType(hawser, 'Site');
  const scopeValueId = await createScopeValue(hawser, scopeTypeId, 'berlin');
  await tagNode(hawser, nodeId, scopeValueId);
  return {
    scopeTypeId,
    scopeValueId,
    [`${SCOPE_TYPES}/{id}`]: scopeTypeId,
    [`${SCOPE_TYPES}/{scopeTypeId}/values/{id}`]: scopeValueId,
  };
}

export interface Recorded {
  action: string;
  resourceId: string | null;
  actor: string | null;
  details: Record<string, unknown>;
}

/** The audit entries of scope types, scope values and nodes' tags, oldest first. */
export async function scopeAudit(hawser: Hawser): Promise<Recorded[]> {
  const rows = await withDatabase(hawser, ({ read }) =>
    read.selectFrom('audit_entries').selectAll().orderBy('seq').execute(),
  );
  return rows
    .filter(({ action }) => /^(?:scope_|node\.(?:un)?tagged$)/.test(action))
    .map(({ action, resource_id: resourceId, actor_name: actor, details }) => {
      const { tokenId: _, ...told } = JSON.parse(details ?? '{}');
      return { action, resourceId, actor, details: told };
    });
}

/** The counter that tells whether cached answers about what nodes get are still valid. */
export function generation(hawser: Hawser): Promise<number> {
  return withDatabase(hawser, async ({ read }) => {
    const { value } = await read.selectFrom('generation').select('value').executeTakeFirstOrThrow();
    return value;
  });
}
