/** `/api/v1/nodes`: registration, list, detail and deletion, assignment. */

import type { Database } from '../../db/open.ts';
import { json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import type { Explainer } from '../../resolve/explain.ts';
import type { Planner } from '../../resolve/plans.ts';
import { readServerSettings } from '../settings/queries.ts';
import { assignConfiguration, unassignConfiguration } from './assignment.ts';
import { listCertificates } from './certificate-queries.ts';
import { deleteNode } from './deletion.ts';
import { findNode, listNodes, type StalenessRule } from './queries.ts';
import { type RegistrationOptions, registerNode } from './registration.ts';
import { toReported, toSource } from './reported-settings.ts';
import { NewAssignment, NodeDetails, NodeFilter, NodeSummary, Registered, Registration } from './schemas.ts';
import { listTags } from './tag-queries.ts';
import { toAssignment, toCertificate, toNodeSummary, toNodeTag } from './views.ts';

const TAGS = ['Nodes'];
const PATH = '/api/v1/nodes';
const NODE = `${PATH}/{nodeId}`;

export interface NodeRouteOptions extends RegistrationOptions {
  planner: Planner;
  explainer: Explainer;
}

export function nodeRoutes(options: NodeRouteOptions): Route[] {
  const { database, planner } = options;
  return [
    registerRoute(options),
    listRoute(database),
    detailRoute(options),
    deleteRoute(database),
    assignRoute(database, planner),
    unassignRoute(database),
  ];
}

function registerRoute(options: NodeRouteOptions): Route {
  return route({
    id: 'registerNode',
    method: 'POST',
    path: `${PATH}/register`,
    summary: 'Register a node with a key and a client certificate, or with a key and a CSR',
    description:
      'A known name with the same certificate answers with its id again, and no use is counted, but the key must be ' +
      'good: one that is used up is refused here too. A server with a node CA of its own issues no certificates, and ' +
      'answers a csr with 400 `client_certificate_required`.',
    tags: TAGS,
    access: { kind: 'public' },
    body: { kind: 'json', schema: Registration },
    answers: { 200: { description: "The node's id; for a CSR also the certificate", schema: Registered } },
    problems: [
      'client_certificate_required',
      'certificate_expired',
      'certificate_not_trusted',
      'registration_key_rejected',
      'certificate_in_use',
      'node_exists',
    ],
    async handle({ body, facts }) {
      const { nodeId, certificate } = await registerNode(options, {
        registrationKey: body.registrationKey,
        fqdn: body.fqdn,
        settings: { ...toReported(body), ...toSource(body) },
        csr: body.csr ?? null,
        certificate: facts.certificate,
        actor: facts.actor,
        now: facts.now,
      });
      if (certificate === null) return json({ nodeId });
      return json({ nodeId, certificate, caCertificate: options.authority.certificate });
    },
  });
}

async function stalenessRule(database: Database, now: number): Promise<StalenessRule> {
  const { stalenessMultiplier } = await readServerSettings(database.read);
  return { now, stalenessMultiplier };
}

function listRoute(database: Database): Route {
  return route({
    id: 'listNodes',
    method: 'GET',
    path: PATH,
    summary: 'List nodes by name',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.read' },
    query: NodeFilter,
    answers: { 200: { description: 'The nodes that match', schema: NodeSummary.array() } },
    async handle({ query, facts }) {
      const { rows, total } = await listNodes(database.read, query, await stalenessRule(database, facts.now));
      return page(rows.map(toNodeSummary), total, query);
    },
  });
}

function detailRoute({ database, planner, explainer }: NodeRouteOptions): Route {
  return route({
    id: 'getNode',
    method: 'GET',
    path: NODE,
    summary: 'Read a node',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.read' },
    params: idsInPath('nodeId'),
    answers: { 200: { description: 'The node', schema: NodeDetails } },
    problems: READING_REPOSITORIES,
    async handle({ principal, params, facts }) {
      const { nodeId } = params;
      const row = await findNode(database.read, nodeId, await stalenessRule(database, facts.now));
      if (!row) throw notFound('No such node');
      const node = database.nodeLookup.byNodeId(nodeId);
      const assignment = node?.assignment ?? null;
      const tags = await listTags(database.read, nodeId);
      return json({
        ...toNodeSummary(row),
        certificate: toCertificate(await listCertificates(database.read, nodeId), facts.now),
        assignment:
          assignment &&
          toAssignment(assignment, row.configuration_name ?? '', await planner.resolvedVersion(assignment)),
        tags: tags.map(toNodeTag),
        parameterProblems: node ? await explainer.countProblems(node, principal.userId) : 0,
      });
    },
  });
}

function deleteRoute(database: Database): Route {
  return route({
    id: 'deleteNode',
    method: 'DELETE',
    path: NODE,
    summary: 'Delete a node with its reports, events, tags and assignment',
    description: 'Its certificate stops working at once. Parameter files of its name stay in Git.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.delete' },
    params: idsInPath('nodeId'),
    answers: { 204: { description: 'The node is known no more' } },
    async handle({ params, facts }) {
      await deleteNode(database, facts.actor, params.nodeId);
      return noContent();
    },
  });
}

function assignRoute(database: Database, planner: Planner): Route {
  return route({
    id: 'assignNodeConfiguration',
    method: 'PUT',
    path: `${NODE}/configuration`,
    summary: 'Assign a configuration to a node',
    description: 'The caller also needs Read on the configuration or composite.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.assign-configuration' },
    params: idsInPath('nodeId'),
    body: { kind: 'json', schema: NewAssignment },
    answers: { 204: { description: 'Assigned; the node gets it at its next poll' } },
    problems: [[409, 'no_eligible_version'], ...READING_REPOSITORIES],
    async handle({ principal, params, body, facts }) {
      await assignConfiguration(database, planner, principal, {
        nodeId: params.nodeId,
        configurationName: body.configurationName,
        isComposite: body.isComposite ?? false,
        majorVersion: body.majorVersion ?? null,
        prereleaseChannel: body.prereleaseChannel ?? null,
        actor: facts.actor,
        now: facts.now,
      });
      return noContent();
    },
  });
}

function unassignRoute(database: Database): Route {
  return route({
    id: 'unassignNodeConfiguration',
    method: 'DELETE',
    path: `${NODE}/configuration`,
    summary: 'Take the configuration from a node',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.assign-configuration' },
    params: idsInPath('nodeId'),
    answers: { 204: { description: 'Nothing is assigned any more' } },
    async handle({ params, facts }) {
      await unassignConfiguration(database, params.nodeId, facts.actor);
      return noContent();
    },
  });
}
