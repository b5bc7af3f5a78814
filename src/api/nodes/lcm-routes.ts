/** `/api/v1/nodes/{nodeId}/...`: what a node's LCM does, is set to do, and says that it is set to do. */

import type { Database } from '../../db/open.ts';
import { json, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { notFound, unauthenticated } from '../../lib/errors.ts';
import { changeLcmConfig, readLcmConfig } from './lcm-config.ts';
import {
  listStatusEvents,
  nodeExists,
  recordStatusEvent,
  updateLcmStatus,
  updateReported,
} from './queries.ts';
import { toReported } from './reported-settings.ts';
import {
  LcmConfig,
  LcmConfigChange,
  LcmStatusChange,
  ReportedConfig,
  StatusEvent,
  StatusEventFilter,
} from './schemas.ts';
import { toStatusEvent } from './views.ts';

const TAGS = ['Nodes'];
const NODE = '/api/v1/nodes/{nodeId}';

export function lcmRoutes(database: Database): Route[] {
  return [
    statusRoute(database),
    historyRoute(database),
    readConfigRoute(database),
    changeConfigRoute(database),
    reportedRoute(database),
  ];
}

function statusRoute(database: Database): Route {
  return route({
    id: 'reportLcmStatus',
    method: 'PUT',
    path: `${NODE}/lcm-status`,
    summary: 'Say what the LCM of the node is doing',
    description: 'Each call is an event of the history, also one that says the same again.',
    tags: TAGS,
    access: { kind: 'node:self' },
    body: { kind: 'json', schema: LcmStatusChange },
    answers: { 204: { description: 'Noted, as an event of the history too' } },
    async handle({ node: { nodeId }, body: { lcmStatus }, facts: { now } }) {
      await database.write.transaction().execute(async (trx) => {
        if (!(await updateLcmStatus(trx, nodeId, lcmStatus)))
          throw unauthenticated('The node was deleted just now');
        await recordStatusEvent(trx, { nodeId, lcmStatus, status: null, now });
      });
      return noContent();
    },
  });
}

function historyRoute(database: Database): Route {
  return route({
    id: 'listNodeStatusHistory',
    method: 'GET',
    path: `${NODE}/status-history`,
    summary: 'List what a node has done and how compliant it was, newest first',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.read' },
    params: idsInPath('nodeId'),
    query: StatusEventFilter,
    answers: { 200: { description: 'The events from and to the times given', schema: StatusEvent.array() } },
    async handle({ params: { nodeId }, query }) {
      if (!(await nodeExists(database.read, nodeId))) throw notFound('No such node');
      const { rows, total } = await listStatusEvents(database.read, nodeId, query);
      return page(rows.map(toStatusEvent), total, query);
    },
  });
}

const CONFIG_ANSWER = { description: 'Desired values, else defaults of the server', schema: LcmConfig };

function readConfigRoute(database: Database): Route {
  return route({
    id: 'getNodeLcmConfig',
    method: 'GET',
    path: `${NODE}/lcm-config`,
    summary: 'Read what the LCM of a node is to do',
    tags: TAGS,
    access: { kind: 'node:self-or-permission', permission: 'nodes.read' },
    answers: { 200: CONFIG_ANSWER },
    handle: async ({ node }) => json(await readLcmConfig(database.read, node.nodeId)),
  });
}

function changeConfigRoute(database: Database): Route {
  return route({
    id: 'setNodeLcmConfig',
    method: 'PUT',
    path: `${NODE}/lcm-config`,
    summary: 'Set what the LCM of a node is to do',
    description: 'Null or absent leaves it to the defaults of the server.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.write' },
    params: idsInPath('nodeId'),
    body: { kind: 'json', schema: LcmConfigChange },
    answers: { 200: CONFIG_ANSWER },
    handle: async ({ params, body, facts }) =>
      json(await changeLcmConfig(database, facts.actor, params.nodeId, body)),
  });
}

function reportedRoute(database: Database): Route {
  return route({
    id: 'reportLcmConfig',
    method: 'PUT',
    path: `${NODE}/reported-config`,
    summary: 'Say what the LCM of the node is set to do',
    description: 'Absent members stay, null clears.',
    tags: TAGS,
    access: { kind: 'node:self' },
    body: { kind: 'json', schema: ReportedConfig },
    answers: { 204: { description: 'Noted' } },
    async handle({ node, body }) {
      const reported = toReported(body);
      await database.write.transaction().execute((trx) => updateReported(trx, node.nodeId, reported));
      return noContent();
    },
  });
}
