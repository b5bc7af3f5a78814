/** Changes of groups, and of the mappings of external groups to them. */

import type { Selectable } from 'kysely';
import { lastChangeSetId } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { isGroupNamed } from '../db/protections.ts';
import type { GroupsTable } from '../db/schema.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { nameKey } from '../domain/names.ts';
import { conflict } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { keepingAnAdministrator, requireOwnGroup } from '../security/delegation.ts';
import {
  GROUP_MEMBERS,
  GROUP_ROLES,
  GROUPS,
  MAPPINGS,
  type MappingRow,
  namedMappings,
} from '../security/groups.ts';

/** What a group is called. */
export interface GroupContent {
  name: string;
  description: string | null;
}

/** Which group of which provider is to be which group here. */
export interface NewExternalMapping {
  provider: string;
  externalGroupId: string;
  externalGroupName: string | null;
  groupId: string;
}

/** @throws HawserError `name_taken` */
export async function createGroup(
  trx: Db,
  { actor }: Pick<Caller, 'actor'>,
  content: GroupContent,
  id = newId(),
): Promise<Selectable<GroupsTable>> {
  const { name, description } = content;
  const times = { created_at: actor.at, modified_at: actor.at };
  const row = await GROUPS.insert(trx, { id, name, name_key: nameKey(name), description, ...times });
  await recordAudit(trx, actor, {
    action: 'group.created',
    resourceId: row.id,
    details: { name, description },
  });
  return row;
}

/** @throws HawserError not_found, `name_taken` */
export async function replaceGroup(
  trx: Db,
  { actor }: Caller,
  id: string,
  { name, description }: GroupContent,
): Promise<void> {
  const changes = changedMembers(await GROUPS.require(trx, id), { name, description });
  if (changes === null) return;
  await GROUPS.update(trx, id, { name, name_key: nameKey(name), description, modified_at: actor.at });
  await recordAudit(trx, actor, { action: 'group.updated', resourceId: id, details: { name, ...changes } });
}

/** @throws HawserError not_found, `in_use` where a protection names it, `last_administrator` */
export async function deleteGroup(trx: Db, { actor }: Caller, id: string): Promise<void> {
  const { name, description } = await GROUPS.require(trx, id);
  if (await isGroupNamed(trx, id))
    throw conflict(
      'in_use',
      'A protection names the group; name another one, or none, by a change set first',
    );
  const members = [...(await GROUP_MEMBERS.names(trx, id)).values()];
  const roles = [...(await GROUP_ROLES.names(trx, id)).values()];
  await keepingAnAdministrator(trx, () => GROUPS.delete(trx, id));
  const details = { name, description, members, roles };
  await recordAudit(trx, actor, { action: 'group.deleted', resourceId: id, details });
}

/**
 * Maps a group of an identity provider to a group here. Who is mapped becomes a member, so the rule of new members
 * holds here too.
 * @throws HawserError not_found, `beyond_own_permissions`, `mapping_exists`
 */
export async function createMapping(
  trx: Db,
  { principal, actor }: Caller,
  mapping: NewExternalMapping,
): Promise<MappingRow> {
  await GROUPS.require(trx, mapping.groupId);
  await requireOwnGroup(trx, principal, mapping.groupId);
  return insertMapping(trx, actor, mapping);
}

/** Adds the mapping and its entry in the audit trail. @throws HawserError not_found, `mapping_exists` */
export async function insertMapping(
  trx: Db,
  actor: Actor,
  { provider, externalGroupId, externalGroupName, groupId }: NewExternalMapping,
  id = newId(),
): Promise<MappingRow> {
  const { name } = await GROUPS.require(trx, groupId);
  const row = await MAPPINGS.insert(trx, {
    id,
    provider,
    external_group_id: externalGroupId,
    external_group_name: externalGroupName,
    group_id: groupId,
    created_at: actor.at,
    since_set: await lastChangeSetId(trx),
  });
  const mapping = { ...row, group_name: name };
  const details = describeMapping(mapping);
  await recordAudit(trx, actor, { action: 'external_mapping.created', resourceId: row.id, details });
  return mapping;
}

/** @throws HawserError not_found */
export async function deleteMapping(trx: Db, { actor }: Caller, id: string): Promise<void> {
  await MAPPINGS.require(trx, id);
  const mappings = namedMappings(trx).where('external_group_mappings.id', '=', id);
  const details = describeMapping(await mappings.executeTakeFirstOrThrow());
  await MAPPINGS.delete(trx, id);
  await recordAudit(trx, actor, { action: 'external_mapping.deleted', resourceId: id, details });
}

/** What a mapping maps, as answers and the audit trail name it. */
export function describeMapping(row: MappingRow) {
  return {
    provider: row.provider,
    externalGroupId: row.external_group_id,
    externalGroupName: row.external_group_name,
    groupId: row.group_id,
    groupName: row.group_name,
  };
}
