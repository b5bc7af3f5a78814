/** `/api/v1/nodes`: registration, list, detail and deletion, assignment, tags. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { requireNode } from '../../db/nodes.ts';
import { pageOfList } from '../../db/rows.ts';
import { stalenessRule } from '../../db/staleness.ts';
import { type AssignmentTools, assignConfiguration, unassignConfiguration } from '../../deeds/assign.ts';
import type { BulkTools } from '../../deeds/bulk.ts';
import { toReported } from '../../deeds/change-lcm-config.ts';
import { removeNode } from '../../deeds/delete-node.ts';
import { expectNode } from '../../deeds/expect-node.ts';
import { CERTIFICATE_PROBLEMS, type RegistrationOptions, registerNode } from '../../deeds/register-node.ts';
import { TagGate } from '../../deeds/tag-gate.ts';
import { listTags, replaceTagsAlone, tagAlone, toNodeTag, untagAlone } from '../../deeds/tag-node.ts';
import { NOT_FOUND, READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { OfferedVersions } from '../../resolve/offered-versions.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import { NewAssignment } from '../shared/assignment-schemas.ts';
import { NodeTags } from '../shared/deed-schemas.ts';
import { operation, permitted, ResourceRoutes } from '../shared/routes.ts';
import { bulkRoute } from './bulk-routes.ts';
import { readDetails } from './details.ts';
import { ListedNodes, type NodeConditions } from './listed-nodes.ts';
import {
  ExpectedNode,
  NewTag,
  NodeDetails,
  NodeFilter,
  NodeSummary,
  NodeTag,
  Registered,
  Registration,
} from './schemas.ts';
import { toNodeSummary } from './views.ts';

const TAGS = ['Nodes'];
const PUBLIC = { tags: TAGS, access: { kind: 'public' } } as const;

export interface NodeRouteOptions
  extends RegistrationOptions,
    AssignmentTools,
    Pick<FleetTools, 'questions'> {
  problemCounts: ProblemCounts;
  offeredVersions: OfferedVersions;
}

export function nodeRoutes(options: NodeRouteOptions): Route[] {
  const { database } = options;
  const list = new ListedNodes(options);
  const matchingIds: BulkTools<NodeConditions>['matchingIds'] = async (conditions, { principal, actor }) =>
    list.matchingIds(conditions, await stalenessRule(database, actor.at), principal.userId);
  return [
    registerRoute(options),
    ...readingRoutes(options, list),
    expectRoute(options, list),
    bulkRoute({ ...options, matchingIds }),
    deleteRoute(database),
    ...assignmentRoutes(options),
  ];
}

function registerRoute(options: NodeRouteOptions): Route {
  return new ResourceRoutes(options.database, PUBLIC).update('/api/v1/nodes/register', {
    id: 'registerNode',
    method: 'POST',
    summary: 'Register a node with a key and a client certificate, or with a key and a CSR',
    description:
      'A known name with the same certificate answers with its id again, and no use is counted, but the key must be ' +
      'good: one that is used up is taken only from a node that registered by it, which may not have got the answer. A server with a node CA of its own issues no certificates, and ' +
      'answers a csr with 400 `client_certificate_required`.',
    body: { kind: 'json', schema: Registration },
    answer: { description: "The node's id; for a CSR also the certificate", schema: Registered },
    problems: [...CERTIFICATE_PROBLEMS, 'registration_key_rejected', 'node_exists'],
    async handle({ body, facts }) {
      const { nodeId, certificate } = await registerNode(options, {
        registrationKey: body.registrationKey,
        fqdn: body.fqdn,
        settings: toReported(body),
        csr: body.csr ?? null,
        certificate: facts.certificate,
        actor: facts.actor,
      });
      if (certificate === null) return { nodeId };
      return { nodeId, certificate, caCertificate: options.authority.certificate };
    },
  });
}

function readingRoutes(options: NodeRouteOptions, list: ListedNodes): Route[] {
  const { database } = options;
  const nodes = permitted(database, TAGS, 'nodes.read');
  return [
    nodes.list('/api/v1/nodes', {
      ...operation('listNodes', 'List nodes, by name or as `sort` says'),
      query: NodeFilter,
      answer: { description: 'The nodes that match', schema: NodeSummary },
      rows: async ({ principal, query, facts }) =>
        list.page(query, await stalenessRule(database, facts.now), principal.userId),
      whole: async ({ principal, query, facts }) =>
        list.whole(query, await stalenessRule(database, facts.now), principal.userId),
      show: ({ node, offeredVersion, parameterProblems }) => ({
        ...toNodeSummary(node, offeredVersion),
        parameterProblems,
      }),
    }),
    nodes.get('/api/v1/nodes/{nodeId}', {
      ...operation('getNode', 'Read a node'),
      params: idsInPath('nodeId'),
      answer: { description: 'The node', schema: NodeDetails },
      problems: READING_REPOSITORIES,
      handle: ({ principal, params: { nodeId }, facts: { now } }) =>
        readDetails(options, list, { principal, nodeId, now }),
    }),
  ];
}

function expectRoute(options: NodeRouteOptions, list: ListedNodes): Route {
  return permitted(options.database, TAGS, 'nodes.write').create('/api/v1/nodes', {
    ...operation('expectNode', 'Make a node that awaits its machine'),
    description:
      'The first machine that registers with this name and a good key becomes this node, whatever its certificate; what the ' +
      'node was given stays. `assignment` needs what assigning needs, and a tag without it Read on each parameter file behind the tag. A freeze does not refuse this.',
    body: { kind: 'json', schema: ExpectedNode },
    answer: { description: 'The node', schema: NodeDetails },
    problems: [
      'node_exists',
      'beyond_own_permissions',
      [409, 'no_eligible_version'],
      NOT_FOUND,
      ...READING_REPOSITORIES,
    ],
    async handle({ caller, principal, body, facts: { now } }) {
      const nodeId = await expectNode(options, caller, body);
      return readDetails(options, list, { principal, nodeId, now });
    },
  });
}

function deleteRoute(database: Database): Route {
  return permitted(database, TAGS, 'nodes.delete').delete('/api/v1/nodes/{nodeId}', {
    ...operation('deleteNode', 'Delete a node with its reports, events, tags and assignment'),
    description: 'Its certificate stops working at once. Parameter files of its name stay in Git.',
    params: idsInPath('nodeId'),
    answer: { description: 'The node is known no more' },
    // No copy of the node is kept in memory, so that its certificate is unknown from the next call on, even on a
    // connection that is open already.
    handle: ({ caller, params }) => removeNode(database, caller.actor, params.nodeId),
  });
}

function assignmentRoutes(tools: AssignmentTools): Route[] {
  const assignments = permitted(tools.database, TAGS, 'nodes.assign-configuration');
  return [
    assignments.act('/api/v1/nodes/{nodeId}/configuration', {
      ...operation('assignNodeConfiguration', 'Assign a configuration to a node'),
      changesNodes: true,
      method: 'PUT',
      description:
        'The caller also needs Read on the configuration or composite, and on the parameters of all scopes that it then has ' +
        'for the node. With `version` the node gets exactly that ' +
        'version, until something else is assigned.',
      params: idsInPath('nodeId'),
      body: { kind: 'json', schema: NewAssignment },
      answer: { description: 'Assigned; the node gets it at its next poll' },
      problems: [
        [409, 'no_eligible_version'],
        ...['beyond_own_permissions', 'change_set_required'],
        ...WRITING_REPOSITORIES,
      ],
      handle: ({ caller, params, body }) => assignConfiguration(tools, caller, params.nodeId, body),
    }),
    assignments.delete('/api/v1/nodes/{nodeId}/configuration', {
      ...operation('unassignNodeConfiguration', 'Take the configuration from a node'),
      changesNodes: true,
      params: idsInPath('nodeId'),
      answer: { description: 'Nothing is assigned any more' },
      problems: ['beyond_own_permissions', ...READING_REPOSITORIES],
      async handle({ caller, params: { nodeId } }) {
        const gate = await TagGate.ofExpected(tools, caller.principal, [nodeId]);
        await tools.database.write.transaction().execute(async (trx) => {
          await gate.requireLeft(trx, nodeId);
          await unassignConfiguration(trx, caller.actor, nodeId);
        });
      },
    }),
  ];
}

export function tagRoutes(tools: AssignmentTools): Route[] {
  const { database } = tools;
  const { read } = database;
  const tags = permitted(database, TAGS, 'nodes.write');
  return [
    permitted(database, TAGS, 'nodes.read').list('/api/v1/nodes/{nodeId}/tags', {
      ...operation('listNodeTags', "List a node's tags by precedence"),
      params: idsInPath('nodeId'),
      answer: { description: 'At most one tag of each scope type', schema: NodeTag },
      async rows({ params: { nodeId }, query }) {
        await requireNode(read, nodeId);
        return pageOfList(await listTags(read, nodeId), query);
      },
      show: toNodeTag,
    }),
    tags.create('/api/v1/nodes/{nodeId}/tags', {
      ...operation('tagNode', 'Tag a node with a scope value'),
      changesNodes: true,
      params: idsInPath('nodeId'),
      body: { kind: 'json', schema: NewTag },
      answer: { description: 'The tag', schema: NodeTag },
      problems: [
        ...['scope_type_already_tagged', 'beyond_own_permissions', 'change_set_required'],
        ...READING_REPOSITORIES,
      ],
      handle: async ({ caller, params, body }) =>
        toNodeTag(await tagAlone(tools, caller, { ...params, ...body })),
      key: (tag) => tag.scopeValueId,
    }),
    tags.update('/api/v1/nodes/{nodeId}/tags', {
      ...operation('setNodeTags', 'Give a node exactly these tags, in one step'),
      method: 'PUT',
      changesNodes: true,
      params: idsInPath('nodeId'),
      body: { kind: 'json', schema: NodeTags },
      answer: { description: 'Its tags by precedence', schema: z.array(NodeTag) },
      problems: [
        ...['scope_type_already_tagged', 'beyond_own_permissions', 'change_set_required'],
        ...READING_REPOSITORIES,
      ],
      handle: async ({ caller, params: { nodeId }, body: { scopeValueIds } }) =>
        (await replaceTagsAlone(tools, caller, nodeId, scopeValueIds)).map(toNodeTag),
    }),
    tags.delete('/api/v1/nodes/{nodeId}/tags/{scopeValueId}', {
      ...operation('untagNode', 'Take a tag from a node'),
      changesNodes: true,
      params: idsInPath('nodeId', 'scopeValueId'),
      answer: { description: 'The node has the tag no longer' },
      problems: ['change_set_required', ...READING_REPOSITORIES],
      handle: ({ caller, params }) => untagAlone(tools, caller, params),
    }),
  ];
}
