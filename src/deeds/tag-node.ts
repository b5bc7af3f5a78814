/** Tags: the scope values of a node, at most one of each scope type. */

import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { findAssignedOf, requireNode } from '../db/nodes.ts';
import { findTypeOfValue } from '../db/scope-types.ts';
import { toTimestamp } from '../lib/clock.ts';
import { conflict, invalidField, notFound } from '../lib/errors.ts';
import { type Actor, recordAudit, recordAudits } from '../security/audit.ts';
import { isExpected } from '../security/awaiting-certificates.ts';
import type { Caller } from '../security/caller.ts';
import type { AssignmentTools } from './assign.ts';
import { type NodeOutcome, orThrow, refusalOf } from './node-outcome.ts';
import { requireDoneAlone } from './protection.ts';
import { TagGate } from './tag-gate.ts';

export type NodeTagRow = Awaited<ReturnType<typeof listTags>>[number];

export interface TagTarget {
  nodeId: string;
  scopeValueId: string;
}

/** Lists a node's tags by precedence. */
export function listTags(db: Db, nodeId: string) {
  return db
    .selectFrom('node_tags')
    .innerJoin('scope_types', 'scope_types.id', 'node_tags.scope_type_id')
    .innerJoin('scope_values', 'scope_values.id', 'node_tags.scope_value_id')
    .select([
      'node_tags.node_id as nodeId',
      'node_tags.scope_value_id as scopeValueId',
      'node_tags.scope_type_id as scopeTypeId',
      'scope_types.name as scopeTypeName',
      'scope_values.value as scopeValue',
      'scope_types.precedence',
      'node_tags.assigned_at as assignedAt',
    ])
    .where('node_tags.node_id', '=', nodeId)
    .orderBy('scope_types.precedence')
    .execute();
}

/** A tag as the API shows it. */
export function toNodeTag(tag: NodeTagRow) {
  return { ...tag, assignedAt: toTimestamp(tag.assignedAt) };
}

/**
 * @throws HawserError not_found for the node or the value; forbidden as `TagGate.require`; conflict
 *   `scope_type_already_tagged`, also where it is this value
 */
export async function tagNode(
  trx: Db,
  actor: Actor,
  { nodeId, scopeValueId }: TagTarget,
  gate: Pick<TagGate, 'require'>,
): Promise<NodeTagRow> {
  const [outcome] = await tagAll(trx, actor, { nodeIds: [nodeId], scopeValueId }, gate);
  if (!orThrow(outcome)) throw alreadyTagged();
  return requireTag(trx, { nodeId, scopeValueId });
}

/**
 * Tags many nodes, with few statements for all.
 * @returns of each node true where it was tagged, false where it had this tag; or its refusal: not_found, forbidden as
 *   `TagGate.require`, conflict `scope_type_already_tagged`. A refused node is as it was
 * @throws HawserError not_found for the value
 */
export async function tagAll(
  trx: Db,
  actor: Actor,
  { nodeIds, scopeValueId }: { nodeIds: readonly string[]; scopeValueId: string },
  gate: Pick<TagGate, 'require'>,
): Promise<NodeOutcome[]> {
  const known = await findAssignedOf(trx, nodeIds);
  if (known.size === 0) return nodeIds.map(() => notFound('No such node'));
  const scopeTypeId = await requireTypeOfValue(trx, scopeValueId);
  const tags = await tagsOfType(trx, nodeIds, scopeTypeId);
  const outcomes = new Map<string, NodeOutcome>();
  for (const [nodeId, assigned] of known) {
    const tag = tags.get(nodeId);
    if (tag === scopeValueId) outcomes.set(nodeId, false);
    else if (tag !== undefined) outcomes.set(nodeId, alreadyTagged());
    else {
      const refusal = await refusalOf(() => gate.require(trx, assigned, () => isExpected(trx, nodeId)));
      if (refusal !== null) outcomes.set(nodeId, refusal);
    }
  }
  const wanted = [...known.keys()].filter((nodeId) => !outcomes.has(nodeId));
  const inserted = await insertTags(trx, wanted, { scopeTypeId, scopeValueId, now: actor.at });
  for (const nodeId of wanted) outcomes.set(nodeId, inserted.has(nodeId) || alreadyTagged());
  const tagged = wanted.filter((nodeId) => inserted.has(nodeId));
  const [first] = tagged;
  if (first !== undefined) {
    const details = toDetails(await requireTag(trx, { nodeId: first, scopeValueId }));
    const entries = tagged.map((resourceId) => ({ action: 'node.tagged', resourceId, details }) as const);
    await recordAudits(trx, actor, entries);
  }
  return nodeIds.map((nodeId) => outcomes.get(nodeId) ?? notFound('No such node'));
}

/**
 * The primary key decides, so that of two calls at once only one succeeds. It is asked for no error, because after one
 * PostgreSQL goes on with nothing else in the transaction.
 * @returns the nodes that had no value of the scope type
 */
async function insertTags(
  trx: Db,
  nodeIds: readonly string[],
  { scopeTypeId, scopeValueId, now }: { scopeTypeId: string; scopeValueId: string; now: number },
): Promise<ReadonlySet<string>> {
  if (nodeIds.length === 0) return new Set();
  const target = { scope_type_id: scopeTypeId, scope_value_id: scopeValueId, assigned_at: now };
  const values = Object.values(target).map((value, at) => sql.val(value).as(`value${at}`));
  const rows = await trx
    .insertInto('node_tags')
    .columns(['node_id', ...(Object.keys(target) as (keyof typeof target)[])])
    .expression(
      trx
        .selectFrom('nodes')
        .select(['nodes.id', ...values])
        .where(engineOf(trx).isOneOf('nodes.id', nodeIds)),
    )
    .onConflict((conflict) => conflict.columns(['node_id', 'scope_type_id']).doNothing())
    .returning('node_id')
    .execute();
  return new Set(rows.map(({ node_id }) => node_id));
}

/** Tags a node. @throws HawserError as `tagNode`; conflict `change_set_required` */
export async function tagAlone(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  target: TagTarget,
): Promise<NodeTagRow> {
  const { scopeValueId, nodeId } = target;
  const [scopeValueIds, nodeIds] = [[scopeValueId], [nodeId]];
  await requireDoneAlone(tools, actor, { kind: 'Tag', nodeIds, scopeValueId });
  const gate = await TagGate.of(tools, principal, { scopeValueIds, nodeIds });
  return tools.database.write.transaction().execute((trx) => tagNode(trx, actor, target, gate));
}

/**
 * Gives a node exactly these tags, in one step.
 * @returns its tags by precedence
 * @throws HawserError as `valuesByType` and `setTags`; conflict `change_set_required`
 */
export async function replaceTagsAlone(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  nodeId: string,
  scopeValueIds: readonly string[],
): Promise<NodeTagRow[]> {
  const { read, write } = tools.database;
  await requireNode(read, nodeId);
  const values = await valuesByType(read, scopeValueIds);
  const nodeIds = [nodeId];
  await requireDoneAlone(tools, actor, { kind: 'ReplaceTags', nodeIds, scopeValueIds });
  const gate = await TagGate.of(tools, principal, { scopeValueIds, nodeIds });
  return write.transaction().execute(async (trx) => {
    await setTags(trx, actor, nodeId, { values, areAll: true }, gate);
    return listTags(trx, nodeId);
  });
}

/** Takes a tag from a node. @throws HawserError as `untagNode`; conflict `change_set_required` */
export async function untagAlone(
  tools: AssignmentTools,
  { actor }: Pick<Caller, 'actor'>,
  target: TagTarget,
): Promise<void> {
  const { scopeValueId, nodeId } = target;
  await requireDoneAlone(tools, actor, { kind: 'Untag', nodeIds: [nodeId], scopeValueId });
  await tools.database.write.transaction().execute((trx) => untagNode(trx, actor, target));
}

/** The id of the scope type to which a value belongs. @throws HawserError not_found without such a value */
export async function requireTypeOfValue(db: Db, scopeValueId: string): Promise<string> {
  const scopeTypeId = await findTypeOfValue(db, scopeValueId);
  if (scopeTypeId === undefined) throw notFound('No such scope value');
  return scopeTypeId;
}

/** The ids of those values of one scope type that some nodes have, by the nodes' ids. */
export async function tagsOfType(
  db: Db,
  nodeIds: readonly string[],
  scopeTypeId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('node_tags')
    .select(['node_id', 'scope_value_id'])
    .where('scope_type_id', '=', scopeTypeId)
    .where(engineOf(db).isOneOf('node_id', nodeIds))
    .execute();
  return new Map(rows.map(({ node_id, scope_value_id }) => [node_id, scope_value_id]));
}

/** The tags that one deed gives to nodes. */
export interface WantedTags {
  /** The ids of values, by those of their scope types. */
  values: ReadonlyMap<string, string>;
  /** It says whether tags of other scope types are taken away. */
  areAll: boolean;
}

/** The values by their scope types. @throws HawserError not_found, invalid where two are of one type */
export async function valuesByType(
  db: Db,
  scopeValueIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const id of new Set(scopeValueIds)) {
    const type = await requireTypeOfValue(db, id);
    if (values.has(type))
      throw invalidField('/scopeValueIds', 'Two of them are of one scope type; a node has one of each type');
    values.set(type, id);
  }
  return values;
}

/**
 * Gives a node tags in one step, so that nobody sees it between the old ones and the new ones. A value takes the place of
 * the one of its scope type.
 * @returns whether something changed
 * @throws HawserError not_found for the node or a value; forbidden as `TagGate.require`; conflict
 *   `scope_type_already_tagged` where somebody else tags the node at this moment
 */
export async function setTags(
  trx: Db,
  actor: Actor,
  nodeId: string,
  { values, areAll }: WantedTags,
  gate: Pick<TagGate, 'require'>,
): Promise<boolean> {
  await requireNode(trx, nodeId);
  const before = await listTags(trx, nodeId);
  const gone = before.filter(({ scopeTypeId, scopeValueId }) => {
    const wanted = values.get(scopeTypeId);
    return wanted === undefined ? areAll : wanted !== scopeValueId;
  });
  const added = [...values.values()].filter((id) => !before.some(({ scopeValueId }) => scopeValueId === id));
  for (const { scopeValueId } of gone) await untagNode(trx, actor, { nodeId, scopeValueId });
  for (const scopeValueId of added) await tagNode(trx, actor, { nodeId, scopeValueId }, gate);
  return gone.length + added.length > 0;
}

/** The refusal of a second value of a scope type. */
export const alreadyTagged = () =>
  conflict('scope_type_already_tagged', 'The node has a value of this scope type; take that away first');

/** The refusal to take away a value that the node does not have. */
export const notTagged = () => notFound('The node is not tagged with this value');

/** @throws HawserError not_found for the node or the tag */
export async function untagNode(trx: Db, actor: Actor, target: TagTarget): Promise<void> {
  const { nodeId, scopeValueId } = target;
  await requireNode(trx, nodeId);
  const details = toDetails(await requireTag(trx, target));
  await trx
    .deleteFrom('node_tags')
    .where('node_id', '=', nodeId)
    .where('scope_value_id', '=', scopeValueId)
    .execute();
  await recordAudit(trx, actor, { action: 'node.untagged', resourceId: nodeId, details });
}

/** Whether the node has this very tag. */
export async function hasTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<boolean> {
  const tags = db.selectFrom('node_tags').select('node_id').where('node_id', '=', nodeId);
  return (await tags.where('scope_value_id', '=', scopeValueId).executeTakeFirst()) !== undefined;
}

async function requireTag(db: Db, { nodeId, scopeValueId }: TagTarget): Promise<NodeTagRow> {
  const tag = (await listTags(db, nodeId)).find((one) => one.scopeValueId === scopeValueId);
  if (!tag) throw notTagged();
  return tag;
}

function toDetails({ scopeTypeName: scopeType, scopeValue, scopeValueId }: NodeTagRow) {
  return { scopeType, scopeValue, scopeValueId };
}
