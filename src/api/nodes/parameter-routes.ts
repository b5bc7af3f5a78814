/** `/api/v1/nodes/{nodeId}/parameters`: which parameters a node gets, and who set each of them. */

import { json, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { type ExplanationTools, questionOf } from './parameter-explanation.ts';
import { ExplanationQuery, Provenance, Resolution } from './parameter-schemas.ts';
import { toResolution } from './parameter-views.ts';

const PATH = '/api/v1/nodes/{nodeId}/parameters';

const COMMON = {
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
} as const;

const ABOUT = `The caller also needs Read on the parameters of the configuration; where the node gets it as a child of \
a composite, on the configuration as well. One that the node does not get is \
explained as an assignment without a major version and channel would give it. Of a configuration that does not use \
server-managed parameters nothing reaches the node: no scope has a version, and there are no problems.`;

export function nodeParameterRoutes(tools: ExplanationTools): Route[] {
  return [resolutionRoute(tools), provenanceRoute(tools)];
}

function resolutionRoute(tools: ExplanationTools): Route {
  return route({
    ...COMMON,
    id: 'getNodeParameterResolution',
    path: `${PATH}/resolution`,
    summary: 'Which parameter file each scope gives a node',
    description: ABOUT,
    answers: { 200: { description: 'The scopes that speak for the node', schema: Resolution } },
    async handle({ principal, params, query }) {
      const { nodeId } = params;
      const configurationId = query.configurationId ?? null;
      const question = await questionOf(tools, principal, { nodeId, configurationId });
      return json(toResolution(await tools.explainer.explain(question)));
    },
  });
}

function provenanceRoute(tools: ExplanationTools): Route {
  return route({
    ...COMMON,
    id: 'getNodeParameterProvenance',
    path: `${PATH}/provenance`,
    summary: 'Who set each value of the parameters that a node gets',
    description: `${ABOUT} A secure object shows as one value in mergedParameters, while provenance tells of each \
leaf in it. Where the parameters block of the delivered version cannot be read, all values count as secure. What \
would take more than 8 MiB to tell is refused with parameter_merge_failed.`,
    answers: { 200: { description: 'The merged parameters, and their origin', schema: Provenance } },
    async handle({ principal, params, query }) {
      const { nodeId } = params;
      const configurationId = query.configurationId ?? null;
      const question = await questionOf(tools, principal, { nodeId, configurationId });
      return writtenJson(await tools.explainer.provenance(question));
    },
  });
}
