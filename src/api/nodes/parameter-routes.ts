/** `/api/v1/nodes/{nodeId}/parameters`: which parameters a node gets, and who set each of them. */

import type { Database, Db } from '../../db/database.ts';
import { findManifest } from '../../db/manifests.ts';
import { idsOfLink, type KnownNode, type ScopeLink } from '../../db/node-lookup.ts';
import { keyOfScope } from '../../db/scope-grants.ts';
import { isPrerelease } from '../../domain/version-order.ts';
import { type Answer, json, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { invalid, notFound } from '../../lib/errors.ts';
import type { Explainer, Explanation, Question } from '../../resolve/explain.ts';
import { type ContentTools, contentOf } from '../../resolve/past-content.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableResources, scopeReaderOf } from '../../security/rights.ts';
import { At, momentOf, pastGone, requirePastNode, requireRan } from '../shared/past.ts';
import { ExplanationQuery, Provenance, Resolution } from './parameter-schemas.ts';

export interface ExplanationTools extends ContentTools {
  database: Database;
  explainer: Explainer;
  /** Waits until what the polls of nodes have told is written. */
  caughtUp(): Promise<void>;
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
    provenanceRoute(tools),
  ];
}

const OF_EXPLANATIONS = {
  method: 'GET',
  tags: ['Nodes'],
  access: { kind: 'permission', permission: 'nodes.read' },
  params: idsInPath('nodeId'),
} as const;

const PROBLEMS = [
  'no_configuration_assigned',
  [404, 'no_eligible_version'],
  'configuration_id_required',
  'parameter_merge_failed',
  ...READING_REPOSITORIES,
] as const;

function provenanceRoute(tools: ExplanationTools): Route {
  const { explainer } = tools;
  return route({
    ...OF_EXPLANATIONS,
    id: 'getNodeParameterProvenance',
    path: '/api/v1/nodes/{nodeId}/parameters/provenance',
    summary: 'Who set each value of the parameters that a node gets, or ran at a time',
    description:
      `${ABOUT} A secure object shows as one value in mergedParameters, while provenance tells of each \
leaf in it. Where the parameters block of the delivered version cannot be read, all values count as secure. What \
would take more than 8 MiB to tell is refused with parameter_merge_failed. With ` +
      '`at`' +
      ` it is told of what ran then, as long as \
its files and versions are there, and ` +
      '`at` and `checksum`' +
      ` stand beside it.`,
    query: ExplanationQuery.extend({ at: At }),
    problems: [...PROBLEMS, [404, 'nothing_ran'], 'past_gone'],
    answers: { 200: { description: 'The merged parameters, and their origin', schema: Provenance } },
    async handle({ principal, params: { nodeId }, query: { configurationId, at }, facts }) {
      if (at === undefined)
        return writtenJson(
          await explainer.provenance(await questionOf(tools, principal, nodeId, configurationId)),
        );
      const moment = await momentOf(tools.database, facts.now, at);
      return writtenJson(await pastProvenance(tools, principal, { nodeId, configurationId, at: moment }));
    },
  });
}

interface PastQuestion {
  nodeId: string;
  configurationId: string | undefined;
  at: number;
}

/** @throws HawserError as the questions of now, `nothing_ran` and `past_gone` */
async function pastProvenance(
  tools: ExplanationTools,
  principal: UserPrincipal,
  { nodeId, configurationId, at }: PastQuestion,
): Promise<Buffer> {
  const { database, explainer } = tools;
  const { read } = database;
  await tools.caughtUp();
  await requirePastNode(database, nodeId);
  const { checksum } = await requireRan(database, principal, nodeId, at);
  const kept = await findManifest(read, checksum);
  if (kept === undefined) throw pastGone(`No manifest is kept of the checksum ${checksum}`);
  if (configurationId === undefined && kept.isComposite)
    throw invalid('configuration_id_required', 'It ran a composite; name one of its configurations');
  const named = configurationId === undefined ? { name: kept.configurationName } : { id: configurationId };
  const configuration = await grantedResource(read, principal, 'parameters', 'Read', named);
  if (kept.isComposite) await grantedResource(read, principal, 'configuration', 'Read', named);
  const { parts } = await contentOf(tools, read, kept);
  const part = parts.find(({ plan }) => plan.name === configuration.name);
  if (part === undefined) throw notFound('The node did not run this configuration then', 'nothing_ran');
  await admit(read, principal, configuration.id, part.scopes);
  const delivered = {
    ...{ nodeId, configurationId: configuration.id, configurationVersion: part.plan.tag.version },
    ...{ prereleaseChannel: null, at: toTimestamp(at), checksum },
  };
  return explainer.provenanceOfPart(part, delivered, principal.userId);
}

/** @throws HawserError not_found unless the caller may read the files of all of these scopes */
async function admit(
  db: Db,
  principal: UserPrincipal,
  configurationId: string,
  scopes: readonly ScopeLink[],
) {
  const isReadable = scopeReaderOf(await readableResources(db, principal));
  const keys = scopes.map((scope) => keyOfScope({ configurationId, ...idsOfLink(scope) }));
  if (!keys.every(isReadable)) throw notFound('No parameters of this node that you may read');
}

function explanationRoute(
  tools: ExplanationTools,
  explain: (question: Question) => Promise<Answer>,
  declared: Pick<Route, 'id' | 'path' | 'summary' | 'description' | 'answers'>,
): Route {
  return route({
    ...declared,
    ...OF_EXPLANATIONS,
    query: ExplanationQuery,
    problems: [...PROBLEMS],
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
  const admitted = (scopes: readonly ScopeLink[]) =>
    admit(database.read, principal, configuration.id, scopes);
  return { node, configuration, caller: principal.userId, admit: admitted };
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
