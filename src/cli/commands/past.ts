/** What nodes ran: `hawserctl node history`, `fleet`, and what `node show` and `node diff` tell of a time. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { isId } from '../names.ts';
import { scopeText } from '../scopes.ts';
import { findNode } from './node-choice.ts';

type Out = Context['out'];

export const AT = {
  value: 'TIME',
  summary: 'at this time, such as 2026-11-20T15:30:00Z',
} as const;

/** A node that was deleted is known by its id alone. */
async function nodeIdOf(api: Api, text: string): Promise<string> {
  return isId(text) ? text.toLowerCase() : (await findNode(api, text)).id;
}

const what = ({
  configurationName,
  version,
}: {
  configurationName: string | null;
  version: string | null;
}) => (configurationName === null ? null : `${configurationName} ${version ?? ''}`);

export const history = command({
  path: 'node history',
  summary: 'list what a node ran, newest first',
  arguments: [{ name: 'node', summary: 'the fqdn or the id; the id of a node that was deleted' }],
  options: {},
  examples: ['hawserctl node history web01.example.com'],
  async run({ api, out, arguments: { node } }) {
    const path = { nodeId: await nodeIdOf(api, node) };
    const rows = await api.all('/api/v1/nodes/{nodeId}/history', { path });
    out.answer(rows, () =>
      out.table(
        rows,
        [
          { title: 'FROM', cell: ({ from }) => dateTime(from) },
          { title: 'TO', cell: ({ to }) => (to === null ? 'now' : dateTime(to)) },
          { title: 'RAN', cell: (row) => what(row) },
          { title: 'EVIDENCE', cell: ({ evidence }) => evidence },
          { title: 'CHECKSUM', cell: ({ checksum }) => checksum.slice(0, 12) },
        ],
        'Nothing is known of what it ran.',
      ),
    );
  },
});

export const fleet = command({
  path: 'fleet',
  summary: 'list what the nodes ran at a time, or run now',
  description: 'Nodes of which nothing was known are left out; those that were deleted since are there.',
  options: {
    at: AT,
    configuration: { value: 'NAME', summary: 'only nodes that ran this configuration or composite' },
    version: { value: 'VERSION', summary: 'only nodes that ran this version' },
    csv: { summary: 'as CSV' },
  },
  examples: [
    'hawserctl fleet --at 2026-11-20T15:30:00Z',
    'hawserctl fleet --at 2026-11-20T15:30:00Z --configuration web --version 1.2.0 --csv',
  ],
  async run({ api, out, options: { at, configuration: configurationName, version, csv } }) {
    const query = { at, configurationName, version };
    if (csv) {
      out.bytes((await api.download('/api/v1/fleet/running', { query }, 'text/csv')).body);
      return;
    }
    const rows = await api.all('/api/v1/fleet/running', { query });
    out.answer(rows, () =>
      out.table(
        rows,
        [
          { title: 'NODE', cell: ({ fqdn }) => fqdn },
          { title: 'RAN', cell: (row) => what(row) },
          { title: 'EVIDENCE', cell: ({ evidence }) => evidence },
          { title: 'SINCE', cell: ({ since }) => dateTime(since) },
          { title: 'DELETED', cell: ({ deletedAt }) => deletedAt && dateTime(deletedAt) },
        ],
        'Nothing is known to have run.',
      ),
    );
  },
});

/** Shows the manifest of what a node ran at a time. */
export async function showAt(
  { api, out }: Pick<Context, 'api' | 'out'>,
  text: string,
  at: string,
): Promise<void> {
  const path = { nodeId: await nodeIdOf(api, text) };
  const ran = await api.get('/api/v1/nodes/{nodeId}/manifest', { path, query: { at } });
  out.answer(ran, () => showManifest(text, ran, out));
}

function showManifest(node: string, ran: Schemas['NodeManifest'], out: Out): void {
  out.fields({
    Node: node,
    Ran: what(ran),
    Known: `${ran.evidence} since ${dateTime(ran.since)}`,
    Checksum: ran.checksum,
    Commit: ran.tag.commit,
  });
  for (const { configurationName, version, parameters } of ran.parts)
    out.table(
      [
        { file: configurationName, version },
        ...parameters.map((file) => ({ file: `parameters of ${scopeText(file)}`, version: file.version })),
      ],
      [
        { title: 'MADE OF', cell: ({ file }) => file },
        { title: 'VERSION', cell: (row) => row.version },
      ],
      'Nothing.',
    );
}

/** Shows what differs between two nodes, each as it is offered to, or ran at a time. */
export async function compareNodes(
  { api, out }: Pick<Context, 'api' | 'out'>,
  [left, right]: readonly [string, string],
  { leftAt, rightAt }: { leftAt: string | undefined; rightAt: string | undefined },
): Promise<void> {
  const query = { left: await nodeIdOf(api, left), right: await nodeIdOf(api, right), leftAt, rightAt };
  const compared = await api.get('/api/v1/nodes/compare', { query });
  out.answer(compared, () => showComparison(compared, out));
}

function showComparison({ left, right, files, parameters }: Schemas['NodeComparison'], out: Out): void {
  const side = (node: typeof left) =>
    `${node.fqdn} ${node.at === null ? 'is offered' : `at ${dateTime(node.at)} ran`} ${what(node) ?? 'nothing'}`;
  out.fields({ Left: side(left), Right: side(right) });
  out.table(
    files,
    [
      { title: 'FILE', cell: ({ path }) => path },
      { title: 'CHANGE', cell: ({ change }) => change },
      {
        title: 'LINES',
        cell: ({ additions, deletions }) => (additions === null ? null : `+${additions} -${deletions}`),
      },
    ],
    'All files are the same.',
  );
  if (parameters.length === 0) return;
  const text = (value: unknown) => JSON.stringify(value ?? null);
  out.table(
    parameters,
    [
      { title: 'PARAMETER', cell: ({ path }) => path },
      { title: 'LEFT', cell: ({ before }) => text(before) },
      { title: 'RIGHT', cell: ({ after }) => text(after) },
    ],
    'All parameters are the same.',
  );
}
