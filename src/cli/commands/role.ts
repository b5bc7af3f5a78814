/** `hawserctl role`: what people may do, by name. */

import type { Schemas } from '../../client/api-types.ts';
import { PERMISSION_NAMES } from '../../domain/permissions.ts';
import { type Belonging, belongingCommands } from '../belonging.ts';
import type { Command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import {
  createCommand,
  eachCommand,
  type Kind,
  listCommand,
  type ReadKind,
  showCommand,
  updateCommand,
} from '../resource.ts';

type Role = Schemas['Role'];

export const ROLE: ReadKind<Role, Role> = {
  word: 'role',
  namesOf: ({ name }) => [name],
  list: (api) => api.all('/api/v1/roles'),
  read: (api, id) => api.get('/api/v1/roles/{id}', { path: { id } }),
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'BUILT IN', cell: ({ isSystemRole }) => isSystemRole },
    { title: 'PERMISSIONS', cell: ({ permissions }) => permissions.length },
    { title: 'DESCRIPTION', cell: ({ description }) => description },
  ],
  fields: (role) => ({
    Name: role.name,
    Description: role.description,
    'Built in': role.isSystemRole,
    Permissions: role.permissions.join(', '),
    Created: dateTime(role.createdAt),
    Changed: dateTime(role.modifiedAt),
    Id: role.id,
  }),
};

const DESCRIPTION = { value: 'TEXT', summary: 'what it is for' } as const;
const PERMISSION = { value: 'NAME', isRepeatable: true, choices: PERMISSION_NAMES } as const;

export const ROLE_COMMANDS = [
  listCommand(ROLE, '--filter isSystemRole=false'),
  showCommand(ROLE, 'Operator'),
  createCommand(ROLE, {
    options: {
      description: DESCRIPTION,
      permission: { ...PERMISSION, summary: 'what its holders may do; may be said several times' },
    },
    examples: ['hawserctl role create Readers --permission nodes.read --permission reports.read'],
    body: (name, { options }): Schemas['RoleContent'] => ({
      name,
      description: options.description,
      permissions: options.permission as Role['permissions'],
    }),
    create: (api, json) => api.post('/api/v1/roles', { json }),
  }),
  updateCommand(ROLE, {
    options: {
      name: { value: 'NAME', summary: 'its new name' },
      description: DESCRIPTION,
      permission: { ...PERMISSION, summary: 'let it hold this one too; may be said several times' },
      'without-permission': { ...PERMISSION, summary: 'take this one away; may be said several times' },
    },
    examples: ['hawserctl role update Readers --permission audit.read --without-permission reports.read'],
    body: (role, options): Schemas['RoleContent'] => {
      const without = options['without-permission'];
      const kept = role.permissions.filter((permission) => !without.includes(permission));
      const permissions = [...new Set([...kept, ...(options.permission as Role['permissions'])])];
      return {
        name: options.name ?? role.name,
        description: options.description ?? role.description,
        permissions,
      };
    },
    replace: (api, id, json) => api.put('/api/v1/roles/{id}', { path: { id }, json }),
  }),
  eachCommand(ROLE, {
    verb: 'delete',
    done: 'Deleted',
    summary: 'delete roles; whoever held them holds them no more',
    example: 'Readers',
    run: (api, id) => api.delete('/api/v1/roles/{id}', { path: { id } }),
  }),
];

/** The commands by which users and groups come to hold roles, and to hold them no more. */
export function roleCommands<Holder extends { id: string }>(
  holder: Kind<Holder>,
  path: '/api/v1/groups/{id}' | '/api/v1/users/{id}',
  texts: Pick<Belonging<Holder, Role>, 'summaries' | 'example'>,
): Command[] {
  return belongingCommands({
    ...{ holder, item: ROLE, verbs: { add: 'grant', remove: 'revoke' }, ...texts },
    // Users and groups are read and changed alike, but a union of paths has no call of its own.
    read: async (api, id) => {
      const { roles } = await api.get(path as '/api/v1/groups/{id}', { path: { id } });
      return roles.map((role) => role.id);
    },
    replace: (api, id, roleIds) =>
      api.put(`${path}/roles` as '/api/v1/groups/{id}/roles', { path: { id }, json: { roleIds } }),
  });
}
