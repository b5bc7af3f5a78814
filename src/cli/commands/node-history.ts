/** `hawserctl node why` and `node timeline`: why a node is as it is, since when, and what happened to it. */

import { command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { readWhole } from '../values.ts';
import { findNode } from './node-choice.ts';

const NODE = [{ name: 'node', summary: 'the fqdn or the id' }] as const;

const why = command({
  path: 'node why',
  summary: 'tell why a node is not well, and since when',
  arguments: NODE,
  options: {},
  examples: ['hawserctl node why web01.example.com'],
  async run({ api, out, arguments: { node } }) {
    const { fqdn, status, statusSince, statusReason, statusCause, lastReport } = await findNode(api, node);
    out.answer({ fqdn, status, statusSince, statusReason, statusCause, lastReport }, () =>
      out.fields({
        Node: fqdn,
        Status: `${status} since ${dateTime(statusSince)}`,
        Because: statusReason ?? 'nothing is wrong, as far as the server knows',
        Known: statusCause && `by ${statusCause.kind}, ${dateTime(statusCause.at)}`,
        'Last report':
          lastReport &&
          `${lastReport.operation}, ${dateTime(lastReport.timestamp)}, ` +
            `of ${lastReport.configurationName ?? 'an unknown configuration'} ${lastReport.version ?? ''}`.trim(),
        Report: lastReport?.id,
      }),
    );
  },
});

const timeline = command({
  path: 'node timeline',
  summary: 'list what happened to a node, newest first',
  arguments: NODE,
  options: {
    kinds: { value: 'KINDS', summary: 'only these, such as Offered,Status,Report' },
    limit: { value: 'N', summary: 'so many at most; without it 100' },
  },
  examples: ['hawserctl node timeline web01.example.com --kinds Offered,Running'],
  async run({ api, out, arguments: { node }, options }) {
    const { id: nodeId } = await findNode(api, node);
    const query = { kinds: options.kinds, take: readWhole(options.limit, '--limit') };
    const entries = await api.get('/api/v1/nodes/{nodeId}/timeline', { path: { nodeId }, query });
    out.answer(entries, () =>
      out.table(
        entries,
        [
          { title: 'TIME', cell: ({ at }) => dateTime(at) },
          { title: 'KIND', cell: ({ kind }) => kind },
          { title: 'WHO', cell: ({ actorName }) => actorName },
          { title: 'WHAT', cell: ({ summary }) => summary },
        ],
        'Nothing is known of it.',
      ),
    );
  },
});

export const NODE_HISTORY = [why, timeline];
