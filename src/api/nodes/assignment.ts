/** Assigns a configuration to a node, and takes it away. The caller must be allowed to read the configuration. */

import type { z } from 'zod';
import { breaksReference } from '../../db/errors.ts';
import type { Assignment } from '../../db/node-lookup.ts';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { Planner } from '../../resolve/plans.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { Caller } from '../crud/routes.ts';
import { findAssigned, requireNode } from './queries.ts';
import type { NewAssignment } from './schemas.ts';

/**
 * Assigns a configuration or composite of which a published version fits. A node that has the same assignment already
 * keeps it, with its time.
 * @throws HawserError not_found for the node or the configuration, conflict `no_eligible_version`
 */
export async function assignConfiguration(
  database: Database,
  planner: Planner,
  { principal, actor }: Caller,
  nodeId: string,
  wish: z.output<typeof NewAssignment>,
): Promise<void> {
  const { configurationName: name, majorVersion = null, prereleaseChannel = null } = wish;
  const isComposite = wish.isComposite ?? false;
  await requireNode(database.read, nodeId);
  const kind = isComposite ? 'composite' : 'configuration';
  const target = await grantedResource(database.read, principal, kind, 'Read', { name });
  const assignment = {
    configurationId: isComposite ? null : target.id,
    compositeId: isComposite ? target.id : null,
    majorVersion,
    prereleaseChannel,
  };
  if (!(await planner.isEligible(assignment))) {
    throw conflict('no_eligible_version', 'No published version of the configuration fits this assignment');
  }
  try {
    await database.write.transaction().execute(async (trx) => {
      const { fqdn, ...before } = await requireAssigned(trx, nodeId);
      if (changedMembers(before, assignment) === null) return;
      await saveAssignment(trx, nodeId, assignment, actor.at);
      const details = { fqdn, configurationName: target.name, isComposite, majorVersion, prereleaseChannel };
      await recordAudit(trx, actor, { action: 'node.configuration_assigned', resourceId: nodeId, details });
    });
  } catch (error) {
    if (breaksReference(error)) throw notFound('The configuration was deleted just now');
    throw error;
  }
}

/** @throws HawserError not_found for the node; it is no error that nothing is assigned */
export async function unassignConfiguration(trx: Db, actor: Actor, nodeId: string): Promise<void> {
  const { fqdn, configurationName, compositeId } = await requireAssigned(trx, nodeId);
  if (configurationName === null) return;
  await trx.deleteFrom('assignments').where('node_id', '=', nodeId).execute();
  const details = { fqdn, configurationName, isComposite: compositeId !== null };
  await recordAudit(trx, actor, { action: 'node.configuration_unassigned', resourceId: nodeId, details });
}

async function requireAssigned(trx: Db, nodeId: string) {
  const assigned = await findAssigned(trx, nodeId);
  if (!assigned) throw notFound('No such node');
  return assigned;
}

async function saveAssignment(trx: Db, nodeId: string, assignment: Assignment, now: number): Promise<void> {
  const target = {
    configuration_id: assignment.configurationId,
    composite_id: assignment.compositeId,
    major_version: assignment.majorVersion,
    prerelease_channel: assignment.prereleaseChannel,
    assigned_at: now,
  };
  await trx
    .insertInto('assignments')
    .values({ node_id: nodeId, ...target })
    .onConflict((conflict) => conflict.column('node_id').doUpdateSet(target))
    .execute();
}
