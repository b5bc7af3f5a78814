/** `/api/v1/users`: people and service accounts. What they may do comes with roles (role-routes.ts) and groups. */

import type { Database } from '../../db/open.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { changeUser, removeUser, requireUser } from './change.ts';
import { createUser } from './create.ts';
import { passwordRoutes } from './password-routes.ts';
import { listUsers } from './queries.ts';
import type { ResetOptions } from './reset-password.ts';
import { roleRoutes } from './role-routes.ts';
import { NewUser, User, UserChange, UserDetails } from './schemas.ts';
import { describeUser, toUser } from './views.ts';

const PATH = '/api/v1/users';

const COMMON = { tags: ['Users'], access: { kind: 'permission', permission: 'users.manage' } } as const;

export function userRoutes(options: ResetOptions): Route[] {
  const { database } = options;
  return [
    listRoute(database),
    readRoute(database),
    createRoute(database),
    changeRoute(database),
    deleteRoute(database),
    ...passwordRoutes(options),
    ...roleRoutes(database),
  ];
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listUsers',
    method: 'GET',
    path: PATH,
    summary: 'List users by name',
    query: Paging,
    answers: { 200: { description: 'The users', schema: User.array() } },
    async handle({ query, facts }) {
      const { rows, total } = await listUsers(database.read, query);
      const users = rows.map((row) => toUser(row, facts.now));
      return page(users, total, query);
    },
  });
}

function readRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'getUser',
    method: 'GET',
    path: `${PATH}/{id}`,
    summary: 'Read a user',
    params: idsInPath('id'),
    answers: { 200: { description: 'The user with roles held directly and groups', schema: UserDetails } },
    async handle({ params, facts }) {
      const row = await requireUser(database.read, params.id);
      return json(await describeUser(database.read, row, facts.now));
    },
  });
}

function createRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'createUser',
    method: 'POST',
    path: PATH,
    summary: 'Create a user or a service account',
    description:
      'A user needs a password. A service account has none, and nothing to change at first sign-in; no route gives it a ' +
      'token yet.',
    body: { kind: 'json', schema: NewUser },
    answers: { 201: { description: 'The new user, without roles and groups', schema: UserDetails } },
    problems: ['name_taken'],
    async handle({ body, facts }) {
      const row = await createUser(database, facts.actor, body);
      return created(`${PATH}/${row.id}`, await describeUser(database.read, row, facts.now));
    },
  });
}

function changeRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'updateUser',
    method: 'PUT',
    path: `${PATH}/{id}`,
    summary: 'Change, deactivate or reactivate a user',
    description:
      'Deactivation ends all sessions and revokes all tokens at once; they do not come back. Reactivating or renaming a ' +
      'user needs every permission and grant that the user holds.',
    params: idsInPath('id'),
    body: { kind: 'json', schema: UserChange },
    answers: { 200: { description: 'The user as it is now', schema: UserDetails } },
    problems: ['beyond_own_permissions', 'name_taken', 'last_administrator'],
    async handle({ principal, params, body, facts }) {
      const user = await database.write.transaction().execute(async (trx) => {
        const row = await changeUser(trx, { principal, actor: facts.actor }, params.id, body);
        return describeUser(trx, row, facts.now);
      });
      return json(user);
    },
  });
}

function deleteRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'deleteUser',
    method: 'DELETE',
    path: `${PATH}/{id}`,
    summary: 'Delete a user',
    description: 'The name becomes free, so the caller needs every permission and grant that the user holds.',
    params: idsInPath('id'),
    answers: { 204: { description: 'Deleted, with all sessions, tokens, memberships and grants' } },
    problems: ['beyond_own_permissions', 'last_administrator'],
    async handle({ principal, params, facts }) {
      const caller = { principal, actor: facts.actor };
      await database.write.transaction().execute((trx) => removeUser(trx, caller, params.id));
      return noContent();
    },
  });
}
