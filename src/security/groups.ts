/** The tables of groups, of who is in them, of the roles that they hold, and of mappings of external groups. */

import { type Selectable, sql } from 'kysely';
import { lastChangeSetId } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { Table } from '../db/rows.ts';
import type { ExternalGroupMappingsTable, UsersTable } from '../db/schema.ts';
import { conflict } from '../lib/errors.ts';
import { requireOwnGroup, requireOwnRoles } from './delegation.ts';
import { JoinTable } from './join-table.ts';

/** To delete a group deletes its memberships, roles, grants and external mappings. */
export const GROUPS = new Table('groups', {
  order: ['name_key'],
  missing: 'No such group',
  unique: { column: 'groups.name_key', taken: () => conflict('name_taken', 'Another group has this name') },
});

const OWNER = { table: GROUPS, column: 'group_id', name: 'name' } as const;

/** The memberships of this server's own. */
export const GROUP_MEMBERS = new JoinTable('group_members', {
  owner: OWNER,
  member: { table: 'users', column: 'user_id' },
  action: 'group.members_changed',
  // Who joins counts for the change sets that are made from now on.
  noted: async (db) => ({ since_set: await lastChangeSetId(db) }),
  // Who joins a group gets all that it has.
  requireOwn: (trx, principal, { ownerId }) => requireOwnGroup(trx, principal, ownerId),
});

/** All members by user name, each once, with where the membership comes from: `Local`, or else a provider. */
export function membersOf(db: Db, groupId: string) {
  const memberships = db
    .selectFrom('group_memberships')
    .select([
      'user_id',
      sql<string>`coalesce(max(case source when 'Local' then source end), min(source))`.as('source'),
    ])
    .where('group_id', '=', groupId)
    .groupBy('user_id');
  return db
    .selectFrom('users')
    .innerJoin(memberships.as('memberships'), 'memberships.user_id', 'users.id')
    .selectAll('users')
    .select('memberships.source')
    .orderBy('users.username_key');
}

export type MemberRow = Selectable<UsersTable> & { source: string };

export const GROUP_ROLES = new JoinTable('group_roles', {
  owner: OWNER,
  member: { table: 'roles', column: 'role_id' },
  action: 'group.roles_changed',
  requireOwn: (trx, principal, { added }) => requireOwnRoles(trx, principal, added),
});

export const MAPPINGS = new Table('external_group_mappings', {
  order: ['provider', 'external_group_id'],
  missing: 'No such external mapping',
  unique: {
    column: 'external_group_mappings.provider',
    taken: () => conflict('mapping_exists', 'This external group is mapped already'),
  },
});

export type MappingRow = Selectable<ExternalGroupMappingsTable> & { group_name: string };

/** Selects mappings with the names of the groups here, by provider, then by what the provider calls the group. */
export function namedMappings(db: Db) {
  return db
    .selectFrom('external_group_mappings')
    .innerJoin('groups', 'groups.id', 'external_group_mappings.group_id')
    .selectAll('external_group_mappings')
    .select('groups.name as group_name')
    .orderBy('provider')
    .orderBy('external_group_id');
}
