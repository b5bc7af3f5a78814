/** `/api/v1/search`: finds things of every kind by their names. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import { type Found, findBeginnings, findParts, type Named } from '../../db/named-things.ts';
import { nameKey } from '../../domain/names.ts';
import { scopeKey } from '../../domain/scopes.ts';
import { json } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { Id } from '../../http/schemas.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableIds } from '../../security/rights.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';

/** The most that is found. */
const MOST = 20;

const KINDS = ['Node', 'Configuration', 'Composite', 'User', 'Group', 'ScopeValue'] as const;
type Kind = (typeof KINDS)[number];

const isOfLength = (text: string) => {
  const characters = [...text].length;
  return characters >= 2 && characters <= 100;
};

const Search = z.object({
  q: z
    .string()
    .max(400)
    .refine(isOfLength, 'Must have 2 to 100 characters')
    .meta({ description: 'Any part of a name, as written, in any case; 2 to 100 characters' }),
});

export const Hit = z
  .object({
    kind: z.enum(KINDS),
    id: Id,
    name: z.string().meta({ description: 'The fqdn, name, user name or value' }),
    detail: z
      .string()
      .nullable()
      .meta({
        description:
          'Of a node the name of what is assigned, of a user the e-mail address, of a scope value the name of its type, ' +
          'else the description',
      }),
  })
  .meta({
    id: 'SearchHit',
    examples: [
      {
        kind: 'Node',
        id: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
        name: 'web-01.example.com',
        detail: 'web-server',
      },
    ],
  });

export function searchRoute(database: Database): Route {
  const forUsers = new ResourceRoutes(database, { tags: ['Fleet'], access: { kind: 'user' } });
  return forUsers.own('GET', '/api/v1/search', {
    ...operation('search', 'Find nodes, configurations, composites, users, groups and scope values by name'),
    description:
      `At most ${MOST}: names that begin with the text come first, then others that have it, each by name. There is of ` +
      'each kind what the caller may list.',
    query: Search,
    answers: { 200: { description: 'What was found', schema: Hit.array() } },
    handle: async ({ principal, query }) => json(await search(database, principal, query.q)),
  });
}

async function search(database: Database, principal: UserPrincipal, text: string) {
  const kinds = kindsFor(database.read, principal);
  const find = async (findKind: (named: Named) => Promise<Found[]>) => {
    const hits: (Found & { kind: Kind })[] = [];
    for (const [kind, named] of kinds) {
      for (const found of await findKind(named)) hits.push({ kind, ...found });
    }
    // Equal names stay in the order of the kinds.
    return hits.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  };
  const beginnings = (await find((named) => findBeginnings(database.read, named, text, MOST))).slice(0, MOST);
  const left = MOST - beginnings.length;
  const parts =
    left === 0
      ? []
      : await find((named) => findParts(database, named, text, { take: left, caller: principal.userId }));
  return [...beginnings, ...parts.slice(0, left)].map(({ kind, id, name, detail }) => ({
    kind,
    id,
    name,
    detail,
  }));
}

/** The kinds that the user may list. */
function kindsFor(db: Db, principal: UserPrincipal): [Kind, Named][] {
  const { permissions } = principal;
  const granted = (on: 'configuration' | 'composite'): { where?: RawBuilder<SqlBool> } => {
    const ids = readableIds(db, principal, on);
    return ids === 'all' ? {} : { where: sql<SqlBool>`id in ${ids}` };
  };
  const description = sql<string | null>`description`;
  const lower = { key: 'name_key', toKey: (text: string) => text.toLowerCase() };
  const resource = { name: 'name', ...lower, detail: description };
  const all: [Kind, boolean, Named][] = [
    [
      'Node',
      permissions.has('nodes.read'),
      { table: 'nodes', name: 'fqdn', ...lower, key: 'fqdn', detail: ASSIGNED },
    ],
    ['Configuration', true, { table: 'configurations', ...resource, ...granted('configuration') }],
    ['Composite', true, { table: 'composites', ...resource, ...granted('composite') }],
    [
      'User',
      permissions.has('users.manage'),
      { table: 'users', name: 'username', key: 'username_key', toKey: nameKey, detail: sql`email` },
    ],
    [
      'Group',
      permissions.has('groups.manage'),
      { table: 'groups', name: 'name', key: 'name_key', toKey: nameKey, detail: description },
    ],
    [
      'ScopeValue',
      true,
      { table: 'scope_values', name: 'value', key: 'value_key', toKey: scopeKey, detail: TYPE_NAME },
    ],
  ];
  return all.filter(([, isListed]) => isListed).map(([kind, , named]) => [kind, named]);
}

/** The name of the configuration or composite that is assigned to a node. */
const ASSIGNED = sql<string | null>`(
  select coalesce(configurations.name, composites.name) from assignments
  left join configurations on configurations.id = assignments.configuration_id
  left join composites on composites.id = assignments.composite_id
  where assignments.node_id = nodes.id)`;

const TYPE_NAME = sql<string | null>`(
  select scope_types.name from scope_types where scope_types.id = scope_values.scope_type_id)`;
