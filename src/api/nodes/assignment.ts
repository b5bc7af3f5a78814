/** Assigning a configuration to a node: only one that the caller may read and that gives the node something. */

import { breaksReference } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { Resolver } from '../../resolve/resolver.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { nodeExists, saveAssignment } from './queries.ts';

export interface AssignmentRequest {
  nodeId: string;
  configurationName: string;
  isComposite: boolean;
  majorVersion: number | null;
  prereleaseChannel: string | null;
  now: number;
}

/** @throws HawserError not_found for the node or the configuration, conflict `no_eligible_version` */
export async function assignConfiguration(
  database: Database,
  resolver: Resolver,
  principal: UserPrincipal,
  request: AssignmentRequest,
): Promise<void> {
  const { nodeId, isComposite, majorVersion, prereleaseChannel, now } = request;
  if (!(await nodeExists(database.read, nodeId))) throw notFound('No such node');
  const kind = isComposite ? 'composite' : 'configuration';
  const target = await grantedResource(database.read, principal, kind, 'Read', request.configurationName);
  const assignment = {
    configurationId: isComposite ? null : target.id,
    compositeId: isComposite ? target.id : null,
    majorVersion,
    prereleaseChannel,
  };
  if (!(await resolver.isEligible(assignment))) {
    throw conflict('no_eligible_version', 'No published version of the configuration fits this assignment');
  }
  try {
    await database.write.transaction().execute(async (trx) => {
      if (!(await nodeExists(trx, nodeId))) throw notFound('No such node');
      await saveAssignment(trx, { nodeId, ...assignment, now });
    });
  } catch (error) {
    if (breaksReference(error)) throw notFound('The configuration was deleted just now');
    throw error;
  }
}
