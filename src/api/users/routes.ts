/** `/api/v1/users`: people and service accounts. Their roles and groups say what they may do. */

import type { Database, Db } from '../../db/database.ts';
import {
  changeUser,
  createUser,
  deleteUser,
  type ResetOptions,
  resetPassword,
  unlockUser,
} from '../../deeds/change-user.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { listGroupsOf, USER_ROLES, USERS, type UserRow } from '../../security/users.ts';
import { toGroup, toHeldRole, toUser } from '../shared/principals.ts';
import { operation, type PermittedRoutes, permitted } from '../shared/routes.ts';
import { HeldRole, NewUser, PasswordReset, RoleIds, User, UserChange, UserDetails } from './schemas.ts';

export function userRoutes(options: ResetOptions): Route[] {
  const { database } = options;
  const users: PermittedRoutes = permitted(database, ['Users'], 'users.manage');
  return [
    ...accountRoutes(database, users),
    ...passwordRoutes(options, users),
    ...roleRoutes(database, users),
  ];
}

function accountRoutes(database: Database, users: PermittedRoutes): Route[] {
  return [
    users.list('/api/v1/users', {
      ...operation('listUsers', 'List users by name'),
      answer: { description: 'The users', schema: User },
      rows: ({ query }) => USERS.page(database.read, query),
      show: (row, { facts }) => toUser(row, facts.now),
    }),
    users.get('/api/v1/users/{id}', {
      ...operation('getUser', 'Read a user'),
      params: idsInPath('id'),
      answer: { description: 'The user with roles held directly and groups', schema: UserDetails },
      async handle({ params, facts }) {
        return describeUser(database.read, await USERS.require(database.read, params.id), facts.now);
      },
    }),
    users.create('/api/v1/users', {
      ...operation('createUser', 'Create a user or a service account'),
      description:
        'A user needs a password. A service account has none, and nothing to change at first sign-in: it uses tokens that ' +
        'are made with `POST /api/v1/users/{id}/tokens`.',
      body: { kind: 'json', schema: NewUser },
      answer: { description: 'The new user, without roles and groups', schema: UserDetails },
      problems: ['name_taken'],
      async handle({ caller, body, facts }) {
        return describeUser(database.read, await createUser(database, caller, body), facts.now);
      },
    }),
    users.update('/api/v1/users/{id}', {
      ...operation('updateUser', 'Change, deactivate or reactivate a user'),
      description:
        'Deactivation ends all sessions and revokes all tokens at once; they do not come back. Reactivating or renaming a ' +
        'user needs every permission and grant that the user holds.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: UserChange },
      answer: { description: 'The user as it is now', schema: UserDetails },
      problems: ['beyond_own_permissions', 'name_taken', 'last_administrator'],
      async change(trx, { caller, params, body, facts }) {
        return describeUser(trx, await changeUser(trx, caller, params.id, body), facts.now);
      },
    }),
    users.delete('/api/v1/users/{id}', {
      ...operation('deleteUser', 'Delete a user'),
      description:
        'The name becomes free, so the caller needs every permission and grant that the user holds.',
      params: idsInPath('id'),
      answer: { description: 'Deleted, with all sessions, tokens, memberships and grants' },
      problems: ['beyond_own_permissions', 'last_administrator'],
      change: (trx, { caller, params }) => deleteUser(trx, caller, params.id),
    }),
  ];
}

/** The routes for users who cannot sign in any more. */
function passwordRoutes(options: ResetOptions, users: PermittedRoutes): Route[] {
  return [
    users.act('/api/v1/users/{id}/reset-password', {
      ...operation('resetUserPassword', "Set a user's password"),
      method: 'POST',
      description:
        'The user must change it at the next sign-in. Whoever sets a password could act as the user, so the caller needs ' +
        'every permission and grant that the user holds. Of oneself nobody sets it here, but with change-password alone.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: PasswordReset },
      answer: { description: 'Set; all sessions of the user and a lock have ended' },
      problems: ['service_account', 'session_required', 'beyond_own_permissions'],
      handle: ({ caller, params, body }) => resetPassword(options, caller, params.id, body.newPassword),
    }),
    users.act('/api/v1/users/{id}/unlock', {
      ...operation('unlockUser', "End a user's lock"),
      method: 'POST',
      description: 'The caller needs every permission and grant that the user holds.',
      params: idsInPath('id'),
      answer: { description: 'Not locked, and no failed sign-in counts any more' },
      problems: ['beyond_own_permissions'],
      change: (trx, { caller, params }) => unlockUser(trx, caller, params.id),
    }),
  ];
}

/** The routes for the roles that a user holds directly. */
function roleRoutes(database: Database, users: PermittedRoutes): Route[] {
  return [
    users.list('/api/v1/users/{id}/roles', {
      ...operation('listUserRoles', 'List the roles that a user holds directly, by name'),
      params: idsInPath('id'),
      answer: { description: 'The roles', schema: HeldRole },
      rows: ({ params, query }) => USER_ROLES.page(database.read, params.id, query),
      show: toHeldRole,
    }),
    users.update('/api/v1/users/{id}/roles', {
      ...operation('setUserRoles', 'Set the roles that a user holds directly'),
      represents: '/api/v1/users/{id}',
      description:
        'Roles that are new to the user may hold no permission that the caller does not have. ' +
        'If-Match takes the ETag of the user.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: RoleIds },
      answer: { description: 'All roles that the user holds directly now', schema: HeldRole.array() },
      problems: ['beyond_own_permissions', 'last_administrator'],
      async change(trx, { caller, params, body }) {
        return (await USER_ROLES.replace(trx, caller, params.id, body.roleIds)).map(toHeldRole);
      },
    }),
  ];
}

/** The user with the roles that it holds directly and its groups, each by name. */
async function describeUser(db: Db, row: UserRow, now: number) {
  const roles = await USER_ROLES.list(db, row.id);
  const groups = await listGroupsOf(db, row.id);
  return {
    ...toUser(row, now),
    accessFailedCount: row.access_failed_count,
    roles: roles.map(toHeldRole),
    groups: groups.map(toGroup),
  };
}
