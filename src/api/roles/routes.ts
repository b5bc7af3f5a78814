/** `/api/v1/roles`: named sets of permissions, which users and groups hold. */

import type { Database } from '../../db/database.ts';
import {
  createRole,
  deleteRole,
  listRoles,
  type RoleWithPermissions,
  readRole,
  replaceRole,
} from '../../deeds/change-role.ts';
import { PERMISSION_NAMES } from '../../domain/permissions.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { timesOf } from '../shared/principals.ts';
import { operation, permitted } from '../shared/routes.ts';
import { Role, RoleContent } from './schemas.ts';

export function roleRoutes(database: Database): Route[] {
  const roles = permitted(database, ['Roles'], 'roles.manage');
  return [
    roles.list('/api/v1/roles', {
      ...operation('listRoles', 'List the roles by name'),
      answer: { description: 'The roles, the built-in ones too', schema: Role },
      rows: ({ query }) => listRoles(database.read, query),
      show: toRole,
    }),
    roles.create('/api/v1/roles', {
      ...operation('createRole', "Create a role of permissions that are the caller's own"),
      body: { kind: 'json', schema: RoleContent },
      answer: { description: 'The role', schema: Role },
      problems: ['beyond_own_permissions', 'name_taken'],
      change: async (trx, { caller, body }) => toRole(await createRole(trx, caller, body)),
    }),
    roles.get('/api/v1/roles/{id}', {
      ...operation('getRole', 'Read a role'),
      params: idsInPath('id'),
      answer: { description: 'The role', schema: Role },
      handle: async ({ params }) => toRole(await readRole(database.read, params.id)),
    }),
    roles.update('/api/v1/roles/{id}', {
      ...operation('replaceRole', "Replace a role's name, description and permissions"),
      params: idsInPath('id'),
      body: { kind: 'json', schema: RoleContent },
      answer: { description: 'The role as it is now', schema: Role },
      problems: ['system_role', 'beyond_own_permissions', 'name_taken'],
      change: async (trx, { caller, params, body }) =>
        toRole(await replaceRole(trx, caller, params.id, body)),
    }),
    roles.delete('/api/v1/roles/{id}', {
      ...operation('deleteRole', 'Delete a role; all who hold it lose it'),
      description: 'The role may hold no permission that the caller does not have.',
      params: idsInPath('id'),
      problems: ['system_role', 'beyond_own_permissions'],
      change: (trx, { caller, params }) => deleteRole(trx, caller, params.id),
    }),
  ];
}

function toRole({ row, permissions }: RoleWithPermissions) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    permissions: PERMISSION_NAMES.filter((name) => permissions.has(name)),
    isSystemRole: row.is_system === 1,
    ...timesOf(row),
  };
}
