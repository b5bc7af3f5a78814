/** Reads, creates, replaces and deletes roles. Nobody writes a role that may do more than they may. */

import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Page, type PageQuery, Table } from '../db/rows.ts';
import type { RolesTable } from '../db/schema.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { nameKey } from '../domain/names.ts';
import type { Permission } from '../domain/permissions.ts';
import { conflict } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { requireOwnPermissions } from '../security/delegation.ts';

/** What a role is called, and what it permits. */
export interface RoleContent {
  name: string;
  description: string | null;
  permissions: readonly Permission[];
}

type RoleRow = Selectable<RolesTable>;

export interface RoleWithPermissions {
  row: RoleRow;
  permissions: ReadonlySet<string>;
}

/** To delete a role takes it from all users and groups that hold it. */
const ROLES = new Table('roles', {
  order: ['name_key'],
  missing: 'No such role',
  unique: { column: 'roles.name_key', taken: () => conflict('name_taken', 'Another role has this name') },
});

/** A page of the roles by name, without regard to case. */
export async function listRoles(db: Db, query: PageQuery): Promise<Page<RoleWithPermissions>> {
  const { rows, total } = await ROLES.page(db, query);
  const held = await permissionsOfRoles(
    db,
    rows.map(({ id }) => id),
  );
  return { rows: rows.map((row) => ({ row, permissions: held.get(row.id) ?? new Set() })), total };
}

/** @throws HawserError not_found */
export async function readRole(db: Db, id: string): Promise<RoleWithPermissions> {
  const row = await ROLES.require(db, id);
  return { row, permissions: (await permissionsOfRoles(db, [id])).get(id) ?? new Set() };
}

/** @throws HawserError `beyond_own_permissions`, `name_taken` */
export async function createRole(
  trx: Db,
  { principal, actor }: Caller,
  content: RoleContent,
): Promise<RoleWithPermissions> {
  await requireOwnPermissions(trx, principal, content.permissions);
  return insertRole(trx, actor, content);
}

/** Adds the role and its entry in the audit trail. @throws HawserError `name_taken` */
export async function insertRole(
  trx: Db,
  actor: Actor,
  { name, description, permissions }: RoleContent,
  id = newId(),
): Promise<RoleWithPermissions> {
  const times = { created_at: actor.at, modified_at: actor.at };
  const role = { id, name, name_key: nameKey(name), description, is_system: 0, ...times };
  const row = await ROLES.insert(trx, role);
  await addPermissions(trx, row.id, permissions);
  const details = { name, description, permissions };
  await recordAudit(trx, actor, { action: 'role.created', resourceId: row.id, details });
  return { row, permissions: new Set(permissions) };
}

/**
 * Replaces name, description and permissions. The caller must also hold the permissions that the role had before: who
 * may not give a permission does not decide about a role that has it.
 * @throws HawserError not_found, `system_role`, `beyond_own_permissions`, `name_taken`
 */
export async function replaceRole(
  trx: Db,
  { principal, actor }: Caller,
  id: string,
  { name, description, permissions }: RoleContent,
): Promise<RoleWithPermissions> {
  const before = await requireCustomRole(trx, id);
  await requireOwnPermissions(trx, principal, [...permissions, ...before.permissions]);
  const wanted: ReadonlySet<string> = new Set(permissions);
  const added = [...wanted].filter((permission) => !before.permissions.has(permission));
  const removed = [...before.permissions].filter((permission) => !wanted.has(permission));
  const changes = changedMembers(before.row, { name, description });
  if (changes === null && added.length + removed.length === 0) return before;
  const change = { name, name_key: nameKey(name), description, modified_at: actor.at };
  const row = await ROLES.update(trx, id, change);
  await removePermissions(trx, id, removed);
  await addPermissions(trx, id, added);
  const details = { name, ...changes, added, removed };
  await recordAudit(trx, actor, { action: 'role.updated', resourceId: id, details });
  return { row, permissions: wanted };
}

/**
 * Takes the role from all who hold it. Only who could give the role may do so.
 * @throws HawserError not_found, `system_role`, `beyond_own_permissions`
 */
export async function deleteRole(trx: Db, { principal, actor }: Caller, id: string): Promise<void> {
  const { row, permissions } = await requireCustomRole(trx, id);
  await requireOwnPermissions(trx, principal, permissions);
  await ROLES.delete(trx, id);
  const details = { name: row.name, description: row.description, permissions: [...permissions] };
  await recordAudit(trx, actor, { action: 'role.deleted', resourceId: id, details });
}

/** @throws HawserError not_found; `system_role` for a role that every server has */
async function requireCustomRole(trx: Db, id: string): Promise<RoleWithPermissions> {
  const role = await readRole(trx, id);
  if (role.row.is_system === 1) {
    throw conflict('system_role', 'A built-in role is neither changed nor deleted');
  }
  return role;
}

/** The permissions of each of these roles; a role without permissions is not among the keys. */
async function permissionsOfRoles(db: Db, roleIds: readonly string[]): Promise<Map<string, Set<string>>> {
  const held = new Map<string, Set<string>>();
  if (roleIds.length === 0) return held;
  const rows = await db
    .selectFrom('role_permissions')
    .selectAll()
    .where('role_id', 'in', roleIds)
    .orderBy('permission')
    .execute();
  for (const { role_id, permission } of rows) {
    const ofRole = held.get(role_id) ?? new Set();
    held.set(role_id, ofRole.add(permission));
  }
  return held;
}

async function addPermissions(db: Db, roleId: string, permissions: readonly string[]): Promise<void> {
  if (permissions.length === 0) return;
  const rows = permissions.map((permission) => ({ role_id: roleId, permission }));
  await db.insertInto('role_permissions').values(rows).execute();
}

async function removePermissions(db: Db, roleId: string, permissions: readonly string[]): Promise<void> {
  const held = db.deleteFrom('role_permissions').where('role_id', '=', roleId);
  if (permissions.length > 0) await held.where('permission', 'in', permissions).execute();
}
