/** `/api/v1/users/{id}/roles`: the roles that a user holds directly. */

import type { Database } from '../../db/open.ts';
import { json, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { requireUser } from './change.ts';
import { setRoles } from './roles.ts';
import { HeldRole, RoleSet } from './schemas.ts';
import { describeRoles } from './views.ts';

const USER = '/api/v1/users/{id}';
const ROLES = `${USER}/roles`;

const COMMON = { tags: ['Users'], access: { kind: 'permission', permission: 'users.manage' } } as const;

export function roleRoutes(database: Database): Route[] {
  return [listRoute(database), replaceRoute(database)];
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listUserRoles',
    method: 'GET',
    path: ROLES,
    summary: 'List the roles that a user holds directly, by name',
    params: idsInPath('id'),
    query: Paging,
    answers: { 200: { description: 'The roles', schema: HeldRole.array() } },
    async handle({ params, query }) {
      await requireUser(database.read, params.id);
      const roles = await describeRoles(database.read, params.id);
      const { take, skip } = query;
      return page(roles.slice(skip, skip + take), roles.length, query);
    },
  });
}

function replaceRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'setUserRoles',
    method: 'PUT',
    path: ROLES,
    represents: USER,
    summary: 'Set the roles that a user holds directly',
    description:
      'Roles that are new to the user may hold no permission that the caller does not have. ' +
      'If-Match takes the ETag of the user.',
    params: idsInPath('id'),
    body: { kind: 'json', schema: RoleSet },
    answers: { 200: { description: 'All roles that the user holds directly now', schema: HeldRole.array() } },
    problems: ['beyond_own_permissions', 'last_administrator'],
    async handle({ principal, params, body, facts }) {
      const roles = await database.write.transaction().execute(async (trx) => {
        await setRoles(trx, principal, facts.actor, { userId: params.id, roleIds: body.roleIds });
        return describeRoles(trx, params.id);
      });
      return json(roles);
    },
  });
}
