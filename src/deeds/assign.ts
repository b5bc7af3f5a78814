/** Assigns a configuration to a node, and takes it away. The caller must be allowed to read the configuration. */

import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import type { Assignment } from '../db/node-lookup.ts';
import { findAssigned, findAssignedOf, requireNode } from '../db/nodes.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { leadingVHint } from '../domain/version-order.ts';
import { conflict, type HawserError, notFound } from '../lib/errors.ts';
import type { Planner } from '../resolve/plans.ts';
import { type Actor, recordAudit, recordAudits } from '../security/audit.ts';
import { grantedResource } from '../security/authorize.ts';
import { expectedAmong } from '../security/awaiting-certificates.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import type { AuthorTools } from '../versions/author.ts';
import { noResource, type Owner } from '../versions/rows.ts';
import {
  assignmentOf,
  configurationsGiven,
  GivenFiles,
  mayReadConfigurations,
  type WantedAssignment,
} from './handing-out.ts';
import { type NodeOutcome, orThrow } from './node-outcome.ts';
import { requireDoneAlone } from './protection.ts';

export interface AssignmentTools extends Pick<AuthorTools, 'database' | 'store' | 'locks'> {
  planner: Planner;
}

/** What is to be assigned, once all is checked that does not depend on the node. */
export interface CheckedAssignment {
  owner: Owner<'configurations' | 'composites'>;
  assignment: Assignment;
  /** Whether the caller may read all that it gives. Else it is only for nodes to which this is assigned already. */
  isReadable: boolean;
  /** The parameter files that it gives; absent where nobody's rights bound them. */
  files?: GivenFiles;
}

/**
 * Assigns a configuration or composite of which a published version fits. A node that has the same assignment already
 * keeps it, with its time.
 * @throws HawserError not_found for the node or the configuration, conflict `no_eligible_version`; as
 *   `requireDoneAlone` and `assignChecked`
 */
export async function assignConfiguration(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  nodeId: string,
  wanted: WantedAssignment,
): Promise<void> {
  const { database } = tools;
  await requireNode(database.read, nodeId);
  const checked = await checkAssignment(tools, principal, wanted);
  await requireDoneAlone(tools, actor, { ...wanted, kind: 'Assign', nodeIds: [nodeId] });
  await whileItStays(tools, checked, () =>
    database.write.transaction().execute((trx) => assignChecked(trx, actor, nodeId, checked)),
  );
}

/**
 * @throws HawserError not_found for a configuration or composite that the user may not read, conflict
 *   `no_eligible_version`
 */
export async function checkAssignment(
  tools: AssignmentTools,
  principal: UserPrincipal,
  wanted: WantedAssignment,
  { mayBeIneligible = false } = {},
): Promise<CheckedAssignment> {
  const { database, planner } = tools;
  const kind = wanted.isComposite ? 'composite' : 'configuration';
  const named = { name: wanted.configurationName };
  const resource = await grantedResource(database.read, principal, kind, 'Read', named);
  const assignment = assignmentOf(wanted, resource.id);
  if (!mayBeIneligible) await requireEligible(planner, assignment);
  const names = await configurationsGiven(planner, assignment);
  const isReadable = await mayReadConfigurations(database.read, principal, names);
  const files = await GivenFiles.of(tools, principal, names);
  return { owner: { kind: `${kind}s`, resource }, assignment, isReadable, files };
}

/**
 * Refuses to hand out to many what not all of them have already.
 * @throws HawserError not_found
 */
export async function requireForAll(
  db: Db,
  checked: CheckedAssignment,
  nodeIds: readonly string[],
): Promise<void> {
  if (checked.isReadable) return;
  const { owner, assignment } = checked;
  const other = await db
    .selectFrom('nodes')
    .leftJoin('assignments', 'assignments.node_id', 'nodes.id')
    .select('nodes.id')
    .where(engineOf(db).isOneOf('nodes.id', nodeIds))
    .where(({ or, eb }) =>
      or([
        eb('assignments.configuration_id', 'is distinct from', assignment.configurationId),
        eb('assignments.composite_id', 'is distinct from', assignment.compositeId),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  if (other !== undefined) throw noResource(owner.kind);
}

/**
 * Assigns to one node what was checked.
 * @returns whether the node had another assignment, or none
 * @throws HawserError what `assignToAll` answers for it
 */
export async function assignChecked(
  trx: Db,
  actor: Actor,
  nodeId: string,
  checked: CheckedAssignment,
): Promise<boolean> {
  const [outcome] = await assignToAll(trx, actor, [nodeId], checked);
  return orThrow(outcome);
}

/**
 * Assigns to many nodes what was checked, with few statements for all.
 * @returns of each node whether it had another assignment, or none; or its refusal: not_found for the node, or for a configuration
 *   that has been deleted since; forbidden `beyond_own_permissions` for parameters of a scope of the node that the caller may not
 *   read. A refused node is as it was
 */
export async function assignToAll(
  trx: Db,
  actor: Actor,
  nodeIds: readonly string[],
  checked: CheckedAssignment,
): Promise<NodeOutcome[]> {
  const { owner, assignment } = checked;
  const known = await findAssignedOf(trx, nodeIds);
  const refusals = await refusalsOf(trx, known, checked);
  const differing = [...known].filter(
    ([nodeId, { fqdn: _fqdn, configurationName: _name, ...before }]) =>
      !refusals.has(nodeId) && changedMembers(before, assignment) !== null,
  );
  const wanted = differing.map(([nodeId]) => nodeId);
  const saved = await saveAssignments(trx, wanted, { owner, assignment }, actor.at);
  const { majorVersion, prereleaseChannel, version } = assignment;
  const target = { configurationName: owner.resource.name, isComposite: owner.kind === 'composites' };
  const entries = differing
    .filter(([nodeId]) => saved.has(nodeId))
    .map(([resourceId, { fqdn }]) => {
      const details = { fqdn, ...target, majorVersion, prereleaseChannel, version };
      return { action: 'node.configuration_assigned', resourceId, details } as const;
    });
  await recordAudits(trx, actor, entries);
  const unsaved = new Set(wanted.filter((nodeId) => !saved.has(nodeId)));
  return nodeIds.map((nodeId) => {
    if (!known.has(nodeId)) return notFound('No such node');
    if (unsaved.has(nodeId)) return notFound('The configuration was deleted just now');
    return refusals.get(nodeId) ?? saved.has(nodeId);
  });
}

type Assigned = Map<string, Pick<Assignment, 'configurationId' | 'compositeId'>>;

/**
 * Why nodes may not be given what they did not get before and the caller may not read: as for what is not there, and parameters
 * of their scopes as `GivenFiles`. An expected node may get any tags when it comes.
 */
async function refusalsOf(
  trx: Db,
  known: Assigned,
  { assignment, isReadable, owner, files }: CheckedAssignment,
): Promise<ReadonlyMap<string, HawserError>> {
  const { configurationId, compositeId } = assignment;
  const given = [...known]
    .filter(([, before]) => before.configurationId !== configurationId || before.compositeId !== compositeId)
    .map(([nodeId]) => nodeId);
  if (!isReadable) return new Map(given.map((nodeId) => [nodeId, noResource(owner.kind)]));
  if (files === undefined || given.length === 0) return new Map();
  const expected = await expectedAmong(trx, given);
  const refusals = new Map<string, HawserError>();
  if (expected.length > 0) {
    const refusal = await files.refusal(trx, 'any');
    if (refusal !== null) for (const nodeId of expected) refusals.set(nodeId, refusal);
  }
  const there = given.filter((nodeId) => !expected.includes(nodeId));
  if (there.length === 0 || (await files.refusal(trx, { nodeIds: there })) === null) return refusals;
  for (const nodeId of there) {
    const refusal = await files.refusal(trx, { nodeIds: [nodeId] });
    if (refusal !== null) refusals.set(nodeId, refusal);
  }
  return refusals;
}

/** The assignment with the name in place of the id: as people ask for it, and as they are shown it. */
export function assignmentByName({
  configurationName,
  compositeId,
  majorVersion,
  prereleaseChannel,
  version,
}: Assignment & { configurationName: string }) {
  return { configurationName, isComposite: compositeId !== null, majorVersion, prereleaseChannel, version };
}

/** @throws HawserError conflict `no_eligible_version` where the assignment would give a node nothing */
export async function requireEligible(
  planner: Pick<Planner, 'isEligible'>,
  assignment: Assignment,
): Promise<void> {
  if (!(await planner.isEligible(assignment))) throw notEligible(assignment.version);
}

/**
 * Runs work that assigns, while no cleanup deletes the version that the assignment gives.
 * @throws HawserError conflict `no_eligible_version`; what `work` throws
 */
export async function whileItStays<T>(
  { locks, planner }: Pick<AssignmentTools, 'locks' | 'planner'>,
  { assignment }: CheckedAssignment,
  work: () => Promise<T>,
): Promise<T> {
  return locks.share(ASSIGNMENTS, async () => {
    await requireEligible(planner, assignment);
    return work();
  });
}

function notEligible(version: string | null): HawserError {
  const message =
    version === null
      ? 'No published version of the configuration fits this assignment'
      : `This version is unknown, a draft or withdrawn, or one of its children has no version that fits${leadingVHint(version)}`;
  return conflict('no_eligible_version', message);
}

/**
 * It is no error that nothing is assigned.
 * @returns whether something was
 * @throws HawserError not_found for the node
 */
export async function unassignConfiguration(trx: Db, actor: Actor, nodeId: string): Promise<boolean> {
  const { fqdn, configurationName, compositeId } = await requireAssigned(trx, nodeId);
  if (configurationName === null) return false;
  await trx.deleteFrom('assignments').where('node_id', '=', nodeId).execute();
  const details = { fqdn, configurationName, isComposite: compositeId !== null };
  await recordAudit(trx, actor, { action: 'node.configuration_unassigned', resourceId: nodeId, details });
  return true;
}

async function requireAssigned(trx: Db, nodeId: string) {
  const assigned = await findAssigned(trx, nodeId);
  if (!assigned) throw notFound('No such node');
  return assigned;
}

/**
 * Whether what is assigned is still there is asked by the statement itself: after an error of a statement PostgreSQL goes on
 * with nothing else in the transaction, which other nodes share.
 * @returns the nodes to which it was assigned: none where it is not there any more
 */
async function saveAssignments(
  trx: Db,
  nodeIds: readonly string[],
  { owner, assignment }: Pick<CheckedAssignment, 'owner' | 'assignment'>,
  now: number,
): Promise<ReadonlySet<string>> {
  if (nodeIds.length === 0) return new Set();
  const target = {
    configuration_id: assignment.configurationId,
    composite_id: assignment.compositeId,
    major_version: assignment.majorVersion,
    prerelease_channel: assignment.prereleaseChannel,
    version: assignment.version,
    assigned_at: now,
  };
  const values = Object.values(target).map((value, at) => sql.val(value).as(`value${at}`));
  const nodes = trx
    .selectFrom('nodes')
    .select(['nodes.id', ...values])
    .where(engineOf(trx).isOneOf('nodes.id', nodeIds))
    .where(({ exists }) =>
      exists(trx.selectFrom(owner.kind).select('id').where('id', '=', owner.resource.id)),
    );
  const rows = await trx
    .insertInto('assignments')
    .columns(['node_id', ...(Object.keys(target) as (keyof typeof target)[])])
    .expression(nodes)
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(target))
    .returning('node_id')
    .execute();
  return new Set(rows.map(({ node_id }) => node_id));
}
