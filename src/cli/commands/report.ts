/** `hawserctl report`: what nodes have reported. */

import { command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { limitOptions, readLimited } from '../limits.ts';
import { readTime } from '../values.ts';
import { findNode } from './node-choice.ts';

const FEW = 50;

const list = command({
  path: 'report list',
  summary: 'list the newest reports of all nodes, or of one',
  arguments: [{ name: 'node', summary: 'the name (fqdn) or the id', isOptional: true }],
  options: {
    from: { value: 'TIME', summary: 'not before this time, such as 2026-11-20 or 24h' },
    to: { value: 'TIME', summary: 'not after this time' },
    errors: { summary: 'only those with errors' },
    ...limitOptions(FEW),
  },
  examples: ['hawserctl report list web01.example.com', 'hawserctl report list --from 24h --errors'],
  async run({ api, out, arguments: { node }, options }) {
    const query = {
      nodeId: node === undefined ? undefined : (await findNode(api, node)).id,
      from: options.from === undefined ? undefined : readTime(options.from, '--from', -1),
      to: options.to === undefined ? undefined : readTime(options.to, '--to', -1),
      ...(options.errors && { hadErrors: true }),
    };
    const read = () => api.list('/api/v1/reports', { query });
    const { items: reports, most, hasMore } = await readLimited(options, FEW, read);
    if (hasMore) out.note(`These are the newest ${most}. --limit or --all shows more.`);
    out.answer(reports, () =>
      out.table(
        reports,
        [
          { title: 'TIME', cell: ({ timestamp }) => dateTime(timestamp) },
          { title: 'NODE', cell: ({ nodeFqdn }) => nodeFqdn },
          { title: 'DID', cell: ({ operation }) => operation },
          { title: 'IN STATE', cell: ({ inDesiredState }) => inDesiredState },
          { title: 'ERRORS', cell: ({ hadErrors }) => hadErrors },
          { title: 'ID', cell: ({ id }) => id },
        ],
        'There are no such reports.',
      ),
    );
  },
});

interface Message {
  level?: unknown;
  name?: unknown;
  message?: unknown;
}

const show = command({
  path: 'report show',
  summary: 'show a report: the messages of DSC, and what every resource came to',
  arguments: [{ name: 'id', summary: 'as report list shows it' }],
  examples: ['hawserctl report show 0193485e-1c2d-7e3f-8a4b-5c6d7e8f9a0b'],
  async run({ api, out, arguments: { id } }) {
    const found = await api.get('/api/v1/reports/{id}', { path: { id } });
    if (out.isJson) return out.json(found);
    out.fields({
      Time: dateTime(found.timestamp),
      Node: found.nodeFqdn,
      Did: found.operation,
      'In state': found.inDesiredState,
      Errors: found.hadErrors,
      Configuration: found.configurationChecksum,
    });
    for (const { level, name, message } of messagesOf(found.result))
      out.text(`${[level, name].filter((word) => typeof word === 'string').join(' ')}: ${message}`);
    out.text('');
    out.text(JSON.stringify(found.result, null, 2));
  },
});

/** What DSC has said, as far as it is text: a node may send any result. */
function messagesOf(result: object): Message[] {
  const { messages } = result as { messages?: unknown };
  const isMessage = (each: unknown): each is Message =>
    typeof each === 'object' && each !== null && typeof (each as Message).message === 'string';
  return Array.isArray(messages) ? messages.filter(isMessage) : [];
}

export const REPORT_COMMANDS = [list, show];
