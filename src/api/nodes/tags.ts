/** Tagging nodes with scope values: at most one value of each scope type. */

import { orConflict } from '../../db/errors.ts';
import type { Database, Db } from '../../db/open.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { findTypeOfValue } from '../scope-types/queries.ts';
import { nodeExists } from './queries.ts';
import { deleteTag, findTag, insertTag, type NodeTagRow, type TagTarget } from './tag-queries.ts';

/** @throws HawserError not_found for the node or the value, conflict `scope_type_already_tagged` */
export function tagNode(database: Database, actor: Actor, target: TagTarget): Promise<NodeTagRow> {
  const message = 'The node has a value of this scope type; take that away first';
  const tagged = conflict('scope_type_already_tagged', message);
  const { nodeId, scopeValueId } = target;
  return database.write.transaction().execute(async (trx) => {
    if (!(await nodeExists(trx, nodeId))) throw notFound('No such node');
    const scopeTypeId = await findTypeOfValue(trx, scopeValueId);
    if (scopeTypeId === undefined) throw notFound('No such scope value');
    const row = { node_id: nodeId, scope_type_id: scopeTypeId, scope_value_id: scopeValueId };
    // The primary key decides, so that of two at once only one is in time.
    await orConflict('node_tags.scope_type_id', tagged, () =>
      insertTag(trx, { ...row, assigned_at: actor.at }),
    );
    const tag = await requireTag(trx, target);
    await recordAudit(trx, actor, {
      action: 'node.tagged',
      resourceId: nodeId,
      details: toDetails(tag),
    });
    return tag;
  });
}

/** @throws HawserError not_found for the node or the tag */
export async function untagNode(database: Database, actor: Actor, target: TagTarget): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    if (!(await nodeExists(trx, target.nodeId))) throw notFound('No such node');
    const tag = await requireTag(trx, target);
    await deleteTag(trx, target);
    await recordAudit(trx, actor, {
      action: 'node.untagged',
      resourceId: target.nodeId,
      details: toDetails(tag),
    });
  });
}

async function requireTag(db: Db, target: TagTarget): Promise<NodeTagRow> {
  const tag = await findTag(db, target);
  if (!tag) throw notFound('The node is not tagged with this value');
  return tag;
}

function toDetails(tag: NodeTagRow) {
  return {
    scopeType: tag.scope_type_name,
    scopeValue: tag.scope_value,
    scopeValueId: tag.scope_value_id,
  };
}
