/** `/api/v1/groups`: users taken together, to give roles and grants to all of them at once. */

import type { Database, Db } from '../../db/database.ts';
import { pageOf } from '../../db/rows.ts';
import {
  createGroup,
  createMapping,
  deleteGroup,
  deleteMapping,
  describeMapping,
  replaceGroup,
} from '../../deeds/change-group.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import {
  GROUP_MEMBERS,
  GROUP_ROLES,
  GROUPS,
  type MappingRow,
  type MemberRow,
  membersOf,
  namedMappings,
} from '../../security/groups.ts';
import { toGroup, toHeldRole, toUser } from '../shared/principals.ts';
import { operation, type PermittedRoutes, permitted } from '../shared/routes.ts';
import {
  ExternalMapping,
  Group,
  GroupContent,
  GroupDetails,
  HeldRole,
  Member,
  MemberIds,
  NewExternalMapping,
  RoleIds,
} from './schemas.ts';

export function groupRoutes(database: Database): Route[] {
  const groups = permitted(database, ['Groups'], 'groups.manage');
  return [
    groups.list('/api/v1/groups', {
      ...operation('listGroups', 'List the groups by name'),
      answer: { description: 'The groups', schema: Group },
      rows: ({ query }) => GROUPS.page(database.read, query),
      show: toGroup,
    }),
    groups.create('/api/v1/groups', {
      ...operation('createGroup', 'Create a group without members and roles'),
      body: { kind: 'json', schema: GroupContent },
      answer: { description: 'The group', schema: GroupDetails },
      problems: ['name_taken'],
      async change(trx, { caller, body }) {
        const row = await createGroup(trx, caller, body);
        return { ...toGroup(row), members: [], roles: [] };
      },
    }),
    groups.get('/api/v1/groups/{id}', {
      ...operation('getGroup', 'Read a group with its members and roles'),
      params: idsInPath('id'),
      answer: { description: 'The group', schema: GroupDetails },
      handle: ({ params, facts }) => describeGroup(database.read, params.id, facts.now),
    }),
    groups.update('/api/v1/groups/{id}', {
      ...operation('replaceGroup', "Replace a group's name and description"),
      params: idsInPath('id'),
      body: { kind: 'json', schema: GroupContent },
      answer: { description: 'The group as it is now', schema: GroupDetails },
      problems: ['name_taken'],
      async change(trx, { caller, params, body, facts }) {
        await replaceGroup(trx, caller, params.id, body);
        return describeGroup(trx, params.id, facts.now);
      },
    }),
    groups.delete('/api/v1/groups/{id}', {
      ...operation('deleteGroup', 'Delete a group with its grants and external mappings'),
      params: idsInPath('id'),
      problems: ['last_administrator', 'in_use'],
      change: (trx, { caller, params }) => deleteGroup(trx, caller, params.id),
    }),
    ...memberRoutes(database, groups),
    ...mappingRoutes(database, groups),
  ];
}

/** A list has no validator of its own. That of the group covers its members and roles. */
const REPLACING = {
  represents: '/api/v1/groups/{id}',
  description:
    'Those who are new to the group get its roles and grants, none of which may then go beyond what the caller holds; ' +
    'roles that are new to it may hold no permission that the caller does not have. If-Match takes the ETag of the group.',
  params: idsInPath('id'),
  problems: ['beyond_own_permissions', 'last_administrator'],
} as const;

function memberRoutes(database: Database, groups: PermittedRoutes): Route[] {
  return [
    groups.list('/api/v1/groups/{id}/members', {
      ...operation('listGroupMembers', "List a group's members by user name"),
      params: idsInPath('id'),
      answer: { description: 'The members', schema: Member },
      async rows({ params, query }) {
        await GROUPS.require(database.read, params.id);
        return pageOf(membersOf(database.read, params.id), query);
      },
      show: (row, { facts }) => toMember(row, facts.now),
    }),
    groups.update('/api/v1/groups/{id}/members', {
      ...REPLACING,
      ...operation('setGroupMembers', 'Make these users the members of a group, and no others'),
      body: { kind: 'json', schema: MemberIds },
      answer: { description: 'All members, by user name', schema: Member.array() },
      async change(trx, { caller, params, body, facts }) {
        await GROUP_MEMBERS.replace(trx, caller, params.id, body.userIds);
        const members = await membersOf(trx, params.id).execute();
        return members.map((row) => toMember(row, facts.now));
      },
    }),
    groups.list('/api/v1/groups/{id}/roles', {
      ...operation('listGroupRoles', 'List the roles that a group holds, by name'),
      params: idsInPath('id'),
      answer: { description: 'The roles', schema: HeldRole },
      rows: ({ params, query }) => GROUP_ROLES.page(database.read, params.id, query),
      show: toHeldRole,
    }),
    groups.update('/api/v1/groups/{id}/roles', {
      ...REPLACING,
      ...operation('setGroupRoles', 'Let a group hold these roles, and no others'),
      body: { kind: 'json', schema: RoleIds },
      answer: { description: 'All its roles, by name', schema: HeldRole.array() },
      async change(trx, { caller, params, body }) {
        return (await GROUP_ROLES.replace(trx, caller, params.id, body.roleIds)).map(toHeldRole);
      },
    }),
  ];
}

/** `/external-mappings`: which groups of an identity provider stand for which groups here. */
function mappingRoutes(database: Database, groups: PermittedRoutes): Route[] {
  return [
    groups.list('/api/v1/groups/external-mappings', {
      ...operation('listExternalMappings', 'List the external mappings, by provider and external id'),
      answer: { description: 'The mappings', schema: ExternalMapping },
      rows: ({ query }) => pageOf(namedMappings(database.read), query),
      show: toExternalMapping,
    }),
    groups.create('/api/v1/groups/external-mappings', {
      ...operation('createExternalMapping', 'Map a group of an identity provider to a group here'),
      description:
        'Its members would get the roles and grants of the group, none of which may go beyond what the caller holds.',
      body: { kind: 'json', schema: NewExternalMapping },
      answer: { description: 'The mapping', schema: ExternalMapping },
      problems: [NOT_FOUND, 'beyond_own_permissions', 'mapping_exists'],
      change: async (trx, { caller, body }) => toExternalMapping(await createMapping(trx, caller, body)),
    }),
    groups.delete('/api/v1/groups/external-mappings/{id}', {
      ...operation('deleteExternalMapping', 'Delete an external mapping'),
      params: idsInPath('id'),
      change: (trx, { caller, params }) => deleteMapping(trx, caller, params.id),
    }),
  ];
}

function toExternalMapping(row: MappingRow) {
  return { id: row.id, ...describeMapping(row), createdAt: toTimestamp(row.created_at) };
}

function toMember(row: MemberRow, now: number) {
  return { ...toUser(row, now), source: row.source };
}

/** The group with all its members, by user name, and roles, by name. @throws HawserError not_found */
async function describeGroup(db: Db, id: string, now: number) {
  const group = toGroup(await GROUPS.require(db, id));
  const members = await membersOf(db, id).execute();
  const roles = await GROUP_ROLES.list(db, id);
  return { ...group, members: members.map((row) => toMember(row, now)), roles: roles.map(toHeldRole) };
}
