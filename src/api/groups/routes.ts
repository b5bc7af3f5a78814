/** `/api/v1/groups`: users taken together, to give roles and grants to all of them at once. */

import type { Database } from '../../db/open.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { createGroup, removeGroup, replaceGroup, requireGroup } from './change.ts';
import { linkRoutes } from './link-routes.ts';
import { mappingRoutes } from './mapping-routes.ts';
import { listGroups } from './queries.ts';
import { Group, GroupContent, GroupDetails } from './schemas.ts';
import { showGroup, toGroup } from './views.ts';

const GROUPS = '/api/v1/groups';
const GROUP = `${GROUPS}/{id}`;

const COMMON = {
  tags: ['Groups'],
  access: { kind: 'permission', permission: 'groups.manage' },
} as const;

export function groupRoutes(database: Database): Route[] {
  return [
    listRoute(database),
    createRoute(database),
    detailRoute(database),
    replaceRoute(database),
    deleteRoute(database),
    ...linkRoutes(database),
    ...mappingRoutes(database),
  ];
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listGroups',
    method: 'GET',
    path: GROUPS,
    summary: 'List the groups by name',
    query: Paging,
    answers: { 200: { description: 'The groups', schema: Group.array() } },
    async handle({ query }) {
      const { rows, total } = await listGroups(database.read, query);
      return page(rows.map(toGroup), total, query);
    },
  });
}

function createRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'createGroup',
    method: 'POST',
    path: GROUPS,
    summary: 'Create a group without members and roles',
    body: { kind: 'json', schema: GroupContent },
    answers: { 201: { description: 'The group', schema: GroupDetails } },
    problems: ['name_taken'],
    async handle({ body, facts }) {
      const group = await createGroup(database, facts.actor, body);
      return created(`${GROUPS}/${group.id}`, { ...toGroup(group), members: [], roles: [] });
    },
  });
}

function detailRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'getGroup',
    method: 'GET',
    path: GROUP,
    summary: 'Read a group with its members and roles',
    params: idsInPath('id'),
    answers: { 200: { description: 'The group', schema: GroupDetails } },
    handle: async ({ params, facts }) => json(await readGroup(database, params.id, facts.now)),
  });
}

function replaceRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'replaceGroup',
    method: 'PUT',
    path: GROUP,
    summary: "Replace a group's name and description",
    params: idsInPath('id'),
    body: { kind: 'json', schema: GroupContent },
    answers: { 200: { description: 'The group as it is now', schema: GroupDetails } },
    problems: ['name_taken'],
    async handle({ params, body, facts }) {
      await replaceGroup(database, facts.actor, params.id, body);
      return json(await readGroup(database, params.id, facts.now));
    },
  });
}

function deleteRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'deleteGroup',
    method: 'DELETE',
    path: GROUP,
    summary: 'Delete a group with its grants and external mappings',
    params: idsInPath('id'),
    answers: { 204: { description: 'Deleted' } },
    problems: ['last_administrator'],
    async handle({ params, facts }) {
      await removeGroup(database, facts.actor, params.id);
      return noContent();
    },
  });
}

async function readGroup(database: Database, id: string, now: number) {
  return showGroup(database.read, await requireGroup(database.read, id), now);
}
