/** `hawserctl audit`: who did what. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { limitOptions, readLimited } from '../limits.ts';
import { findNamed, isId } from '../names.ts';
import { readTime } from '../values.ts';
import { USER } from './user.ts';

type Entry = Schemas['AuditEntry'];

/** The most entries that are asked for at once. */
const PAGE = 1000;

const FEW = 100;

const list = command({
  path: 'audit list',
  summary: 'list entries of the audit trail, newest first, or what follows one of them',
  options: {
    from: { value: 'TIME', summary: 'not before this time, such as 2026-11-20 or 24h' },
    to: { value: 'TIME', summary: 'not after this time' },
    action: { value: 'NAME', summary: "these actions, such as 'configuration.*,node.tagged'" },
    'resource-type': { value: 'NAME', summary: 'what was acted on, such as Node' },
    resource: { value: 'NAME', summary: 'what was acted on, by name or id; several with commas' },
    'resource-id': { value: 'ID', summary: 'the id of what was acted on' },
    user: { value: 'NAME', summary: 'who acted, by name or id' },
    after: { value: 'ID', summary: 'what was written after this entry, oldest first; 0: from the oldest' },
    ...limitOptions(FEW),
  },
  examples: [
    'hawserctl audit list --from 24h --user alice',
    'hawserctl audit list --action user.deleted --all',
    'hawserctl audit list --resource web-server,web01.example.com',
    'hawserctl audit list --after 0 --all --json',
  ],
  async run({ api, out, options }) {
    const { from, to, action, resource, user, after } = options;
    const query = {
      ...{ action, resource, resourceType: options['resource-type'], resourceId: options['resource-id'] },
      from: from === undefined ? undefined : readTime(from, '--from', -1),
      to: to === undefined ? undefined : readTime(to, '--to', -1),
      userId:
        user === undefined || isId(user)
          ? user
          : findNamed(await USER.list(api), user, 'user', USER.namesOf).id,
    };
    const read = () =>
      after === undefined ? api.list('/api/v1/audit', { query }) : entriesAfter(api, after, query);
    const { items: entries, most, hasMore } = await readLimited(options, FEW, read);
    if (hasMore)
      out.note(`These are the ${after ? 'first' : 'newest'} ${most}. --limit or --all shows more.`);
    out.answer(entries, () => {
      out.table(
        entries,
        [
          { title: 'TIME', cell: ({ timestamp }) => dateTime(timestamp) },
          { title: 'WHO', cell: ({ actorName, actorType }) => actorName ?? actorType },
          { title: 'ACTION', cell: (entry) => entry.action },
          {
            title: 'RESOURCE',
            cell: ({ resourceType, resourceName, resourceId }) =>
              `${resourceType} ${resourceName ?? resourceId ?? ''}`,
          },
          { title: 'FROM', cell: ({ ipAddress }) => ipAddress },
          { title: 'DETAILS', cell: ({ details }) => details && JSON.stringify(details) },
        ],
        'There are no such entries.',
      );
    });
  },
});

/** Each page begins behind the last entry of the one before, so none is missed while the oldest are deleted. */
async function* entriesAfter(api: Api, beginning: string, query: object): AsyncGenerator<Entry> {
  for (let after = beginning; ; ) {
    const page = await api.get('/api/v1/audit', { query: { ...query, after, take: PAGE } });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

export const AUDIT_COMMANDS = [list];
