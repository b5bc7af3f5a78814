/** Reads and writes of nodes' tags. */

import type { NodeTagsTable } from '../../db/node-tables.ts';
import type { Db } from '../../db/open.ts';

/** A node's tags by precedence. */
export function listTags(db: Db, nodeId: string): Promise<NodeTagRow[]> {
  return tagRows(db).where('node_tags.node_id', '=', nodeId).orderBy('scope_types.precedence').execute();
}

export type NodeTagRow = Awaited<ReturnType<ReturnType<typeof tagRows>['execute']>>[number];

export interface TagTarget {
  nodeId: string;
  scopeValueId: string;
}

export function findTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<NodeTagRow | undefined> {
  return tagRows(db)
    .where('node_tags.node_id', '=', nodeId)
    .where('node_tags.scope_value_id', '=', scopeValueId)
    .executeTakeFirst();
}

export async function insertTag(db: Db, tag: NodeTagsTable): Promise<void> {
  await db.insertInto('node_tags').values(tag).execute();
}

export async function deleteTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<void> {
  await db
    .deleteFrom('node_tags')
    .where('node_id', '=', nodeId)
    .where('scope_value_id', '=', scopeValueId)
    .execute();
}

function tagRows(db: Db) {
  return db
    .selectFrom('node_tags')
    .innerJoin('scope_types', 'scope_types.id', 'node_tags.scope_type_id')
    .innerJoin('scope_values', 'scope_values.id', 'node_tags.scope_value_id')
    .select([
      'node_tags.node_id',
      'node_tags.scope_value_id',
      'node_tags.scope_type_id',
      'scope_types.name as scope_type_name',
      'scope_values.value as scope_value',
      'scope_types.precedence',
      'node_tags.assigned_at',
    ]);
}
