/**
 * What a node is given before it is there: by a registration key, by a rule, or because it is expected. It needs what assigning
 * and tagging need.
 */

import type { Db } from '../db/database.ts';
import { findAssigned } from '../db/nodes.ts';
import type { StoredGift } from '../db/registration-keys.ts';
import type { Actor } from '../security/audit.ts';
import { requirePermission, type UserPrincipal } from '../security/principal.ts';
import { noResource } from '../versions/rows.ts';
import { type AssignmentTools, assignChecked, type CheckedAssignment, checkAssignment } from './assign.ts';
import type { WantedAssignment } from './handing-out.ts';
import { TagGate } from './tag-gate.ts';
import { listTags, tagNode, valuesByType } from './tag-node.ts';

/** What a node is to be given. */
export interface WantedNode {
  assignment: WantedAssignment | null;
  /** The values with which the node is to be tagged, at most one of each scope type. */
  scopeValueIds: readonly string[];
}

/** The same, once all is checked. */
export interface GivenNode {
  assignment: CheckedAssignment | null;
  /** The ids of values, by those of their scope types. */
  values: ReadonlyMap<string, string>;
  /** The gate for the tags, where nobody knows what the node will be assigned. */
  gate?: Pick<TagGate, 'requireAll'>;
}

export const NOTHING_GIVEN: GivenNode = { assignment: null, values: new Map() };

/** What was checked, as keys and rules keep it. */
export function toStored({ assignment: checked, values }: GivenNode): StoredGift {
  const assignment = checked && { configurationName: checked.owner.resource.name, ...checked.assignment };
  return { assignment, scopeValueIds: [...values.values()] };
}

/**
 * Checks what somebody wants to give to nodes. It reads repositories, so it comes before any transaction.
 * @throws HawserError forbidden without the permission; not_found for a value, or for a configuration that the user may not
 *   read as a whole; conflict `no_eligible_version`; invalid for two values of one scope type
 */
export async function checkGiven(
  tools: AssignmentTools,
  principal: UserPrincipal,
  { assignment: wanted, scopeValueIds }: WantedNode,
): Promise<GivenNode> {
  if (wanted !== null) requirePermission(principal, 'nodes.assign-configuration');
  if (scopeValueIds.length > 0) requirePermission(principal, 'nodes.write');
  const assignment = wanted && (await checkAssignment(tools, principal, wanted));
  // To a node that is not there yet, all of it is new.
  if (assignment?.isReadable === false) throw noResource(assignment.owner.kind);
  return { assignment, values: await valuesByType(tools.database.read, scopeValueIds) };
}

/**
 * The same for a node that is expected.
 * @throws HawserError as `checkGiven`; forbidden `beyond_own_permissions` for a tag behind which there is a parameter file that
 *   the user may not read, where nobody knows what a key or a rule will assign to the node
 */
export async function checkExpected(
  tools: AssignmentTools,
  principal: UserPrincipal,
  wanted: WantedNode,
): Promise<GivenNode> {
  const given = await checkGiven(tools, principal, wanted);
  if (given.assignment !== null) return given;
  const { scopeValueIds } = wanted;
  const gate = await TagGate.of(tools, principal, { scopeValueIds, nodeIds: [] });
  await gate.requireAll(tools.database.read);
  return { ...given, gate };
}

/**
 * Assigns to a node unless something is assigned already.
 * @returns whether it did
 * @throws HawserError as `assignChecked`
 */
export async function assignIfNone(
  trx: Db,
  actor: Actor,
  nodeId: string,
  assignment: CheckedAssignment,
): Promise<boolean> {
  const assigned = await findAssigned(trx, nodeId);
  if ((assigned?.configurationName ?? null) !== null) return false;
  return assignChecked(trx, actor, nodeId, assignment);
}

/**
 * Tags a node with the values of those scope types of which it has none.
 * @throws HawserError not_found for a value that has been deleted; forbidden as `TagGate.require`
 */
export async function tagIfNone(
  trx: Db,
  actor: Actor,
  nodeId: string,
  values: GivenNode['values'],
  gate: Pick<TagGate, 'require'>,
): Promise<void> {
  const types = new Set((await listTags(trx, nodeId)).map(({ scopeTypeId }) => scopeTypeId));
  for (const [scopeTypeId, scopeValueId] of values)
    if (!types.has(scopeTypeId)) await tagNode(trx, actor, { nodeId, scopeValueId }, gate);
}
