/** `/api/v1/roles`: named sets of permissions, which users and groups hold. */

import type { Database } from '../../db/open.ts';
import { PERMISSION_NAMES } from '../../domain/permissions.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { createRole, type RoleWithPermissions, removeRole, replaceRole } from './change.ts';
import { findRole, listRoles, permissionsOfRole, permissionsOfRoles } from './queries.ts';
import { Role, RoleContent } from './schemas.ts';

const ROLES = '/api/v1/roles';
const ROLE = `${ROLES}/{id}`;

const COMMON = {
  tags: ['Roles'],
  access: { kind: 'permission', permission: 'roles.manage' },
} as const;

export function roleRoutes(database: Database): Route[] {
  return [
    listRoute(database),
    createRoute(database),
    detailRoute(database),
    replaceRoute(database),
    deleteRoute(database),
  ];
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listRoles',
    method: 'GET',
    path: ROLES,
    summary: 'List the roles by name',
    query: Paging,
    answers: { 200: { description: 'The roles, the built-in ones too', schema: Role.array() } },
    async handle({ query }) {
      const { rows, total } = await listRoles(database.read, query);
      const held = await permissionsOfRoles(
        database.read,
        rows.map(({ id }) => id),
      );
      const roles = rows.map((row) => toRole({ row, permissions: held.get(row.id) ?? new Set() }));
      return page(roles, total, query);
    },
  });
}

function createRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'createRole',
    method: 'POST',
    path: ROLES,
    summary: "Create a role of permissions that are the caller's own",
    body: { kind: 'json', schema: RoleContent },
    answers: { 201: { description: 'The role', schema: Role } },
    problems: ['beyond_own_permissions', 'name_taken'],
    async handle({ principal, body, facts }) {
      const role = await createRole(database, { principal, actor: facts.actor }, body);
      return created(`${ROLES}/${role.row.id}`, toRole(role));
    },
  });
}

function detailRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'getRole',
    method: 'GET',
    path: ROLE,
    summary: 'Read a role',
    params: idsInPath('id'),
    answers: { 200: { description: 'The role', schema: Role } },
    async handle({ params }) {
      const row = await findRole(database.read, params.id);
      if (!row) throw notFound('No such role');
      return json(toRole({ row, permissions: await permissionsOfRole(database.read, row.id) }));
    },
  });
}

function replaceRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'replaceRole',
    method: 'PUT',
    path: ROLE,
    summary: "Replace a role's name, description and permissions",
    params: idsInPath('id'),
    body: { kind: 'json', schema: RoleContent },
    answers: { 200: { description: 'The role as it is now', schema: Role } },
    problems: ['system_role', 'beyond_own_permissions', 'name_taken'],
    async handle({ principal, params, body, facts }) {
      const caller = { principal, actor: facts.actor };
      return json(toRole(await replaceRole(database, caller, params.id, body)));
    },
  });
}

function deleteRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'deleteRole',
    method: 'DELETE',
    path: ROLE,
    summary: 'Delete a role; all who hold it lose it',
    description: 'The role may hold no permission that the caller does not have.',
    params: idsInPath('id'),
    answers: { 204: { description: 'Deleted' } },
    problems: ['system_role', 'beyond_own_permissions'],
    async handle({ principal, params, facts }) {
      await removeRole(database, { principal, actor: facts.actor }, params.id);
      return noContent();
    },
  });
}

function toRole({ row, permissions }: RoleWithPermissions) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    permissions: PERMISSION_NAMES.filter((name) => permissions.has(name)),
    isSystemRole: row.is_system === 1,
    createdAt: toTimestamp(row.created_at),
    modifiedAt: toTimestamp(row.modified_at),
  };
}
