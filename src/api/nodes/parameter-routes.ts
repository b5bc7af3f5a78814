/** `/api/v1/nodes/{nodeId}/parameters`: which parameters a node gets, and who set each of them. */

import type { Database } from '../../db/database.ts';
import { idsOfLink, type KnownNode, type ScopeLink } from '../../db/node-lookup.ts';
import { keyOfScope } from '../../db/scope-grants.ts';
import { isPrerelease } from '../../domain/version-order.ts';
import { type Answer, json, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import type { Explainer, Explanation, Question } from '../../resolve/explain.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableResources, scopeReaderOf } from '../../security/rights.ts';
import { ExplanationQuery, Provenance, Resolution } from './parameter-schemas.ts';

interface ExplanationTools {
  database: Database;
  explainer: Explainer;
}

const ABOUT = `The caller also needs Read on the parameters of the configuration, and of each scope that gives a file; where the node gets it as a child of \
a composite, on the configuration as well. One that the node does not get is \
explained as an assignment without a major version and channel would give it. Of a configuration that does not use \
server-managed parameters nothing reaches the node: no scope has a version, and there are no problems.`;

export function nodeParameterRoutes(tools: ExplanationTools): Route[] {
  const { explainer } = tools;
  return [
    explanationRoute(tools, async (question) => json(toResolution(await explainer.explain(question))), {
      id: 'getNodeParameterResolution',
      path: '/api/v1/nodes/{nodeId}/parameters/resolution',
      summary: 'Which parameter file each scope gives a node',
      description: ABOUT,
      answers: { 200: { description: 'The scopes that speak for the node', schema: Resolution } },
    }),
    explanationRoute(tools, async (question) => writtenJson(await explainer.provenance(question)), {
      id: 'getNodeParameterProvenance',
      path: '/api/v1/nodes/{nodeId}/parameters/provenance',
      summary: 'Who set each value of the parameters that a node gets',
      description: `${ABOUT} A secure object shows as one value in mergedParameters, while provenance tells of each \
leaf in it. Where the parameters block of the delivered version cannot be read, all values count as secure. What \
would take more than 8 MiB to tell is refused with parameter_merge_failed.`,
      answers: { 200: { description: 'The merged parameters, and their origin', schema: Provenance } },
    }),
  ];
}

function explanationRoute(
  tools: ExplanationTools,
  explain: (question: Question) => Promise<Answer>,
  declared: Pick<Route, 'id' | 'path' | 'summary' | 'description' | 'answers'>,
): Route {
  return route({
    ...declared,
    method: 'GET',
    tags: ['Nodes'],
    access: { kind: 'permission', permission: 'nodes.read' },
    params: idsInPath('nodeId'),
    query: ExplanationQuery,
    problems: [
      'no_configuration_assigned',
      [404, 'no_eligible_version'],
      'configuration_id_required',
      'parameter_merge_failed',
      ...READING_REPOSITORIES,
    ],
    handle: async ({ principal, params, query }) =>
      explain(await questionOf(tools, principal, params.nodeId, query.configurationId)),
  });
}

/**
 * Makes the question for the explainer. The caller must be allowed to read the parameters of the configuration.
 * @param configurationId undefined means the configuration that is assigned
 * @throws HawserError not_found for the node, for a configuration that does not exist or whose parameters the caller may
 *   not read, and `no_configuration_assigned`; invalid `configuration_id_required`
 */
async function questionOf(
  { database, explainer }: ExplanationTools,
  principal: UserPrincipal,
  nodeId: string,
  configurationId: string | undefined,
): Promise<Question> {
  const node = await database.nodeLookup.byNodeId(nodeId);
  if (node === null) throw notFound('No such node');
  const id = configurationId ?? assignedConfiguration(node);
  const configuration = await grantedResource(database.read, principal, 'parameters', 'Read', { id });
  // An answer about a child of a composite reveals the child's content, so it takes Read on the child as well.
  if (await explainer.isChild(node, configuration.name))
    await grantedResource(database.read, principal, 'configuration', 'Read', { id });
  const admit = async (scopes: readonly ScopeLink[]) => {
    const isReadable = scopeReaderOf(await readableResources(database.read, principal));
    const keys = scopes.map((scope) =>
      keyOfScope({ configurationId: configuration.id, ...idsOfLink(scope) }),
    );
    if (!keys.every(isReadable)) throw notFound('No parameters of this node that you may read');
  };
  return { node, configuration, caller: principal.userId, admit };
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

function toResolution(explanation: Explanation) {
  const { nodeId, configurationId, configurationVersion, prereleaseChannel, problems, scopes } = explanation;
  return {
    nodeId,
    configurationId,
    configurationVersion,
    prereleaseChannel,
    problems,
    scopes: scopes.map(({ scopeTypeName, scopeValue, precedence, details, isFallback }) => ({
      scopeTypeName,
      scopeValue,
      precedence,
      resolvedVersion: details?.version ?? null,
      isPrerelease: details !== null && isPrerelease(details.version),
      isPassthrough: details?.isPassthrough ?? false,
      isFallback,
      noPublishedVersion: details === null,
    })),
  };
}
