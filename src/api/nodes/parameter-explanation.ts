/** Explains a node's parameters to somebody who may read those of the configuration they ask about. */

import type { KnownNode } from '../../db/node-lookup.ts';
import type { Database } from '../../db/open.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import type { Explainer, Question } from '../../resolve/explain.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';

export interface ExplanationTools {
  database: Database;
  explainer: Explainer;
}

export interface ExplanationRequest {
  nodeId: string;
  /** Null for the one that is assigned. */
  configurationId: string | null;
}

/**
 * What the explainer is to be asked.
 * @throws HawserError not_found for the node, for a configuration that is not there or whose parameters the caller may
 *   not read, and `no_configuration_assigned`; invalid `configuration_id_required`
 */
export async function questionOf(
  { database, explainer }: ExplanationTools,
  principal: UserPrincipal,
  { nodeId, configurationId }: ExplanationRequest,
): Promise<Question> {
  const node = database.nodeLookup.byNodeId(nodeId);
  if (node === null) throw notFound('No such node');
  const id = configurationId ?? assignedConfiguration(node);
  const configuration = await grantedResource(database.read, principal, 'parameters', 'Read', { id });
  // What is said of a composite's child is said of the composite's content, which takes Read on the child as well.
  if (await explainer.isChild(node, configuration.name))
    await grantedResource(database.read, principal, 'configuration', 'Read', { id });
  return { node, configuration, caller: principal.userId };
}

function assignedConfiguration({ assignment }: KnownNode): string {
  if (assignment === null) {
    throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
  }
  if (assignment.configurationId === null) {
    throw invalid('configuration_id_required', 'A composite is assigned; name one of its configurations');
  }
  return assignment.configurationId;
}
