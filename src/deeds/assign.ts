/** Assigns a configuration to a node, and takes it away. The caller must be allowed to read the configuration. */

import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import type { Assignment } from '../db/node-lookup.ts';
import { findAssigned, requireNode } from '../db/nodes.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { leadingVHint } from '../domain/version-order.ts';
import { conflict, type HawserError, notFound } from '../lib/errors.ts';
import type { Planner } from '../resolve/plans.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { grantedResource } from '../security/authorize.ts';
import { isExpected } from '../security/awaiting-certificates.ts';
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
 * Refuses to give a node what it did not get before and the caller may not read: as for what is not there, and parameters of
 * its scopes as `GivenFiles`. An expected node may get any tags when it comes.
 */
async function requireHandingOut(
  trx: Db,
  nodeId: string,
  before: Pick<Assignment, 'configurationId' | 'compositeId'>,
  { assignment, isReadable, owner, files }: CheckedAssignment,
): Promise<void> {
  const { configurationId, compositeId } = before;
  if (configurationId === assignment.configurationId && compositeId === assignment.compositeId) return;
  if (!isReadable) throw noResource(owner.kind);
  await files?.require(trx, (await isExpected(trx, nodeId)) ? 'any' : { nodeIds: [nodeId] });
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
 * @throws HawserError not_found for the node, or for a configuration that has been deleted since; forbidden
 *   `beyond_own_permissions` for parameters of a scope of the node that the caller may not read
 */
export async function assignChecked(
  trx: Db,
  actor: Actor,
  nodeId: string,
  checked: CheckedAssignment,
): Promise<boolean> {
  const { owner, assignment } = checked;
  const { fqdn, ...before } = await requireAssigned(trx, nodeId);
  await requireHandingOut(trx, nodeId, before, checked);
  if (changedMembers(before, assignment) === null) return false;
  const isSaved = await saveAssignment(trx, nodeId, { owner, assignment }, actor.at);
  if (!isSaved) throw notFound('The configuration was deleted just now');
  const { majorVersion, prereleaseChannel, version } = assignment;
  const target = { configurationName: owner.resource.name, isComposite: owner.kind === 'composites' };
  const details = { fqdn, ...target, majorVersion, prereleaseChannel, version };
  await recordAudit(trx, actor, { action: 'node.configuration_assigned', resourceId: nodeId, details });
  return true;
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
 * @returns whether it is
 */
async function saveAssignment(
  trx: Db,
  nodeId: string,
  { owner, assignment }: Pick<CheckedAssignment, 'owner' | 'assignment'>,
  now: number,
): Promise<boolean> {
  const target = {
    configuration_id: assignment.configurationId,
    composite_id: assignment.compositeId,
    major_version: assignment.majorVersion,
    prerelease_channel: assignment.prereleaseChannel,
    version: assignment.version,
    assigned_at: now,
  };
  const row = { node_id: nodeId, ...target };
  const values = Object.values(row).map((value, at) => sql.val(value).as(`value${at}`));
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('assignments')
    .columns(Object.keys(row) as (keyof typeof row)[])
    .expression(trx.selectFrom(owner.kind).select(values).where('id', '=', owner.resource.id))
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(target))
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
}
