/** `/api/v1/groups/{id}/members` and `/roles`: who is in a group, and what they get by it. */

import type { Database } from '../../db/open.ts';
import { json, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { requireGroup } from './change.ts';
import { replaceMembers, replaceRoles } from './links.ts';
import { allMembers, allRoles, listMembers, listRolesOfGroup } from './queries.ts';
import { HeldRole, Member, MemberIds, RoleIds } from './schemas.ts';
import { toHeldRole, toMember } from './views.ts';

const GROUP = '/api/v1/groups/{id}';
const MEMBERS = `${GROUP}/members`;
const ROLES = `${GROUP}/roles`;

const COMMON = {
  tags: ['Groups'],
  access: { kind: 'permission', permission: 'groups.manage' },
  params: idsInPath('id'),
} as const;

/** A list has no validator of its own; the group's covers its members and roles. */
const REPLACING = {
  ...COMMON,
  method: 'PUT',
  represents: GROUP,
  description:
    'Those who are new to the group get its roles and grants, none of which may then go beyond what the caller holds; ' +
    'roles that are new to it may hold no permission that the caller does not have. If-Match takes the ETag of the group.',
  problems: ['beyond_own_permissions', 'last_administrator'],
} as const;

export function linkRoutes(database: Database): Route[] {
  return [
    membersRoute(database),
    replaceMembersRoute(database),
    rolesRoute(database),
    replaceRolesRoute(database),
  ];
}

function membersRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listGroupMembers',
    method: 'GET',
    path: MEMBERS,
    summary: "List a group's members by user name",
    query: Paging,
    answers: { 200: { description: 'The members', schema: Member.array() } },
    async handle({ params, query, facts }) {
      await requireGroup(database.read, params.id);
      const { rows, total } = await listMembers(database.read, params.id, query);
      const members = rows.map((row) => toMember(row, facts.now));
      return page(members, total, query);
    },
  });
}

function replaceMembersRoute(database: Database): Route {
  return route({
    ...REPLACING,
    id: 'setGroupMembers',
    path: MEMBERS,
    summary: 'Make these users the members of a group, and no others',
    body: { kind: 'json', schema: MemberIds },
    answers: { 200: { description: 'All members, by user name', schema: Member.array() } },
    async handle({ principal, params, body, facts }) {
      await replaceMembers(database, { principal, actor: facts.actor }, params.id, body.userIds);
      const members = await allMembers(database.read, params.id);
      return json(members.map((row) => toMember(row, facts.now)));
    },
  });
}

function rolesRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listGroupRoles',
    method: 'GET',
    path: ROLES,
    summary: 'List the roles that a group holds, by name',
    query: Paging,
    answers: { 200: { description: 'The roles', schema: HeldRole.array() } },
    async handle({ params, query }) {
      await requireGroup(database.read, params.id);
      const { rows, total } = await listRolesOfGroup(database.read, params.id, query);
      return page(rows.map(toHeldRole), total, query);
    },
  });
}

function replaceRolesRoute(database: Database): Route {
  return route({
    ...REPLACING,
    id: 'setGroupRoles',
    path: ROLES,
    summary: 'Let a group hold these roles, and no others',
    body: { kind: 'json', schema: RoleIds },
    answers: { 200: { description: 'All its roles, by name', schema: HeldRole.array() } },
    async handle({ principal, params, body, facts }) {
      await replaceRoles(database, { principal, actor: facts.actor }, params.id, body.roleIds);
      const roles = await allRoles(database.read, params.id);
      return json(roles.map(toHeldRole));
    },
  });
}
