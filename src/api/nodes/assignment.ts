/** Assigns a configuration to a node, and takes it away. The caller must be allowed to read the configuration. */

import { breaksReference } from '../../db/errors.ts';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { Planner } from '../../resolve/plans.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { Caller } from '../crud/routes.ts';
import { deleteAssignment, findAssigned, requireNode, saveAssignment } from './queries.ts';

export interface AssignmentRequest {
  nodeId: string;
  configurationName: string;
  isComposite: boolean;
  majorVersion: number | null;
  prereleaseChannel: string | null;
}

/**
 * Assigns a configuration or composite of which a published version fits. A node that has the same assignment already
 * keeps it, with its time.
 * @throws HawserError not_found for the node or the configuration, conflict `no_eligible_version`
 */
export async function assignConfiguration(
  database: Database,
  planner: Planner,
  { principal, actor }: Caller,
  request: AssignmentRequest,
): Promise<void> {
  const { nodeId, isComposite, majorVersion, prereleaseChannel } = request;
  await requireNode(database.read, nodeId);
  const kind = isComposite ? 'composite' : 'configuration';
  const target = await grantedResource(database.read, principal, kind, 'Read', {
    name: request.configurationName,
  });
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
      await saveAssignment(trx, { nodeId, ...assignment, now: actor.at });
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
  await deleteAssignment(trx, nodeId);
  const details = { fqdn, configurationName, isComposite: compositeId !== null };
  await recordAudit(trx, actor, { action: 'node.configuration_unassigned', resourceId: nodeId, details });
}

async function requireAssigned(trx: Db, nodeId: string) {
  const assigned = await findAssigned(trx, nodeId);
  if (!assigned) throw notFound('No such node');
  return assigned;
}
