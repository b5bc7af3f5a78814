/** Assigning a configuration to a node, only one that the caller may read and that gives the node something; taking it. */

import { breaksReference } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { Planner } from '../../resolve/plans.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { deleteAssignment, findAssigned, nodeExists, saveAssignment } from './queries.ts';

export interface AssignmentRequest {
  nodeId: string;
  configurationName: string;
  isComposite: boolean;
  majorVersion: number | null;
  prereleaseChannel: string | null;
  now: number;
  actor: Actor;
}

/**
 * What is assigned like this already stays as it is, with the time of its assignment.
 * @throws HawserError not_found for the node or the configuration, conflict `no_eligible_version`
 */
export async function assignConfiguration(
  database: Database,
  planner: Planner,
  principal: UserPrincipal,
  request: AssignmentRequest,
): Promise<void> {
  const { nodeId, isComposite, majorVersion, prereleaseChannel, now, actor } = request;
  if (!(await nodeExists(database.read, nodeId))) throw notFound('No such node');
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
      const before = await findAssigned(trx, nodeId);
      if (!before) throw notFound('No such node');
      if (isSame(before, assignment)) return;
      await saveAssignment(trx, { nodeId, ...assignment, now });
      const { fqdn } = before;
      const details = { fqdn, configurationName: target.name, isComposite, majorVersion, prereleaseChannel };
      await recordAudit(trx, actor, { action: 'node.configuration_assigned', resourceId: nodeId, details });
    });
  } catch (error) {
    if (breaksReference(error)) throw notFound('The configuration was deleted just now');
    throw error;
  }
}

type Assigned = Pick<
  NonNullable<Awaited<ReturnType<typeof findAssigned>>>,
  'configurationId' | 'compositeId' | 'majorVersion' | 'prereleaseChannel'
>;

function isSame(one: Assigned, other: Assigned): boolean {
  return (
    one.configurationId === other.configurationId &&
    one.compositeId === other.compositeId &&
    one.majorVersion === other.majorVersion &&
    one.prereleaseChannel === other.prereleaseChannel
  );
}

/** @throws HawserError not_found for the node; nothing assigned is fine */
export async function unassignConfiguration(database: Database, nodeId: string, actor: Actor): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const before = await findAssigned(trx, nodeId);
    if (!before) throw notFound('No such node');
    const { fqdn, configurationName, compositeId } = before;
    if (configurationName === null) return;
    await deleteAssignment(trx, nodeId);
    const details = { fqdn, configurationName, isComposite: compositeId !== null };
    await recordAudit(trx, actor, { action: 'node.configuration_unassigned', resourceId: nodeId, details });
  });
}
