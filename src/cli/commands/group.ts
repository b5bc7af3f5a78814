/** `hawserctl group`: groups, who is in them, and the roles that they hold. */

import type { Schemas } from '../../client/api-types.ts';
import { belongingCommands } from '../belonging.ts';
import { dateTime } from '../formats.ts';
import {
  createCommand,
  eachCommand,
  listCommand,
  type ReadKind,
  showCommand,
  updateCommand,
} from '../resource.ts';
import { roleCommands } from './role.ts';
import { USER } from './user.ts';

export const GROUP: ReadKind<Schemas['Group'], Schemas['GroupDetails']> = {
  word: 'group',
  namesOf: ({ name }) => [name],
  list: (api) => api.all('/api/v1/groups'),
  read: (api, id) => api.get('/api/v1/groups/{id}', { path: { id } }),
  columns: [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'DESCRIPTION', cell: ({ description }) => description },
    { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
  ],
  fields: (group) => ({
    Name: group.name,
    Description: group.description,
    Members: group.members
      .map(({ username, source }) => (source === LOCAL ? username : `${username} (by ${source})`))
      .join(', '),
    Roles: group.roles.map(({ name }) => name).join(', '),
    Created: dateTime(group.createdAt),
    Changed: dateTime(group.modifiedAt),
    Id: group.id,
  }),
};

/** Memberships that no identity provider gives. */
const LOCAL = 'Local';

const members = belongingCommands({
  holder: GROUP,
  item: USER,
  verbs: { add: 'add', remove: 'remove' },
  summaries: {
    add: 'make users members of a group',
    remove: 'end memberships; those that an identity provider gives stay',
  },
  example: 'operators alice bob',
  read: async (api, id) => {
    const group = await GROUP.read(api, id);
    return group.members.filter(({ source }) => source === LOCAL).map((user) => user.id);
  },
  replace: (api, id, userIds) => api.put('/api/v1/groups/{id}/members', { path: { id }, json: { userIds } }),
});

const roles = roleCommands(GROUP, '/api/v1/groups/{id}', {
  summaries: { add: 'let a group hold roles', remove: 'take roles from a group' },
  example: 'operators Operator',
});

const DESCRIPTION = { value: 'TEXT', summary: 'what it is for' } as const;

export const GROUP_COMMANDS = [
  listCommand(GROUP, '--filter name=web*'),
  showCommand(GROUP, 'operators'),
  createCommand(GROUP, {
    options: { description: DESCRIPTION },
    examples: ['hawserctl group create web-team --description "who runs the web servers"'],
    body: (name, { options }): Schemas['GroupContent'] => ({ name, description: options.description }),
    create: (api, json) => api.post('/api/v1/groups', { json }),
  }),
  updateCommand(GROUP, {
    options: { name: { value: 'NAME', summary: 'its new name' }, description: DESCRIPTION },
    examples: ['hawserctl group update web-team --name web'],
    body: (group, options): Schemas['GroupContent'] => ({
      name: options.name ?? group.name,
      description: options.description ?? group.description,
    }),
    replace: (api, id, json) => api.put('/api/v1/groups/{id}', { path: { id }, json }),
  }),
  eachCommand(GROUP, {
    verb: 'delete',
    done: 'Deleted',
    summary: 'delete groups; their members stay users',
    example: 'web-team',
    run: (api, id) => api.delete('/api/v1/groups/{id}', { path: { id } }),
  }),
  ...members,
  ...roles,
];
