/** `/api/v1/nodes/{nodeId}/...`: what a node's LCM does, what it is to do, and what it reports that it is set to do. */

import type { Database } from '../../db/database.ts';
import { listStatusEvents, updateReported } from '../../db/nodes.ts';
import { changeLcmConfig, readLcmConfig, toReported } from '../../deeds/change-lcm-config.ts';
import { openStatusWriter } from '../../deeds/take-lcm-status.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { LcmConfigChange } from '../shared/deed-schemas.ts';
import { operation, permitted, ResourceRoutes } from '../shared/routes.ts';
import { LcmConfig, LcmStatusChange, ReportedConfig, StatusEvent, StatusEventFilter } from './schemas.ts';
import { toStatusEvent } from './views.ts';

const TAGS = ['Nodes'];

const CONFIG_ANSWER = { description: 'Desired values, else defaults of the server', schema: LcmConfig };

export function lcmRoutes(database: Database): Route[] {
  return [...reportingRoutes(database), historyRoute(database), ...configRoutes(database)];
}

/** Routes of the node itself. */
function reportingRoutes(database: Database): Route[] {
  const own = new ResourceRoutes(database, { tags: TAGS, access: { kind: 'node:self' } });
  const writer = openStatusWriter(database);
  return [
    own.act('/api/v1/nodes/{nodeId}/lcm-status', {
      ...operation('reportLcmStatus', 'Say what the LCM of the node is doing'),
      method: 'PUT',
      description: 'Each call is an event of the history, also one that says the same again.',
      body: { kind: 'json', schema: LcmStatusChange },
      answer: { description: 'Noted, as an event of the history too' },
      // Each node says it several times a run.
      logLevel: 'debug',
      handle: ({ node: { nodeId }, body: { lcmStatus }, facts: { now } }) =>
        writer.submit({ nodeId, lcmStatus, now }),
    }),
    own.act('/api/v1/nodes/{nodeId}/reported-config', {
      ...operation('reportLcmConfig', 'Say what the LCM of the node is set to do'),
      method: 'PUT',
      description: 'Absent members stay, null clears.',
      body: { kind: 'json', schema: ReportedConfig },
      answer: { description: 'Noted' },
      change: (trx, { node, body }) => updateReported(trx, node.nodeId, toReported(body)),
    }),
  ];
}

function historyRoute(database: Database): Route {
  return permitted(database, TAGS, 'nodes.read').list('/api/v1/nodes/{nodeId}/status-history', {
    ...operation('listNodeStatusHistory', 'List what a node has done and how compliant it was, newest first'),
    params: idsInPath('nodeId'),
    query: StatusEventFilter,
    answer: { description: 'The events from and to the times given', schema: StatusEvent },
    rows: ({ params, query }) => listStatusEvents(database.read, params.nodeId, query),
    show: toStatusEvent,
  });
}

function configRoutes(database: Database): Route[] {
  const path = '/api/v1/nodes/{nodeId}/lcm-config';
  const readers = { kind: 'node:self-or-permission', permission: 'nodes.read' } as const;
  return [
    new ResourceRoutes(database, { tags: TAGS, access: readers }).get(path, {
      ...operation('getNodeLcmConfig', 'Read what the LCM of a node is to do'),
      answer: CONFIG_ANSWER,
      handle: ({ node }) => readLcmConfig(database.read, node.nodeId),
    }),
    permitted(database, TAGS, 'nodes.write').update(path, {
      ...operation('setNodeLcmConfig', 'Set what the LCM of a node is to do'),
      changesNodes: true,
      description: 'Null or absent leaves it to the defaults of the server.',
      params: idsInPath('nodeId'),
      body: { kind: 'json', schema: LcmConfigChange },
      answer: CONFIG_ANSWER,
      async change(trx, { caller, params: { nodeId }, body }) {
        await changeLcmConfig(trx, caller.actor, nodeId, body);
        return readLcmConfig(trx, nodeId);
      },
    }),
  ];
}
