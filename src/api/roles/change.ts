/** Creates, changes and deletes roles: nobody writes a role that may do more than they may. */

import { orConflict } from '../../db/errors.ts';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { nameKey } from '../../domain/names.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { requireOwnPermissions } from '../../security/delegation.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import {
  addPermissions,
  deleteRole,
  findRole,
  insertRole,
  permissionsOfRole,
  type RoleRow,
  removePermissions,
  updateRole,
} from './queries.ts';
import type { RoleContent } from './schemas.ts';

export interface Caller {
  principal: UserPrincipal;
  actor: Actor;
}

export interface RoleWithPermissions {
  row: RoleRow;
  permissions: ReadonlySet<string>;
}

/** @throws HawserError `beyond_own_permissions`, `name_taken` */
export function createRole(
  database: Database,
  { principal, actor }: Caller,
  content: RoleContent,
): Promise<RoleWithPermissions> {
  const { name, description, permissions } = content;
  const times = { created_at: actor.at, modified_at: actor.at };
  const row = { id: newId(), name, name_key: nameKey(name), description, is_system: 0, ...times };
  return database.write.transaction().execute(async (trx) => {
    await requireOwnPermissions(trx, principal, permissions);
    await orNameTaken(() => insertRole(trx, row));
    await addPermissions(trx, row.id, permissions);
    const details = { name, description, permissions };
    await recordAudit(trx, actor, { action: 'role.created', resourceId: row.id, details });
    return { row, permissions: new Set(permissions) };
  });
}

/**
 * Replaces name, description and permissions. Also what the role held before must be the caller's own: who may not
 * give a permission has no say over the role that holds it.
 * @throws HawserError not_found, `system_role`, `beyond_own_permissions`, `name_taken`
 */
export function replaceRole(
  database: Database,
  { principal, actor }: Caller,
  id: string,
  content: RoleContent,
): Promise<RoleWithPermissions> {
  return database.write.transaction().execute(async (trx) => {
    const before = await findCustomRole(trx, id);
    const held = await permissionsOfRole(trx, id);
    await requireOwnPermissions(trx, principal, [...content.permissions, ...held]);
    const { name, description } = content;
    const wanted: ReadonlySet<string> = new Set(content.permissions);
    const added = [...wanted].filter((permission) => !held.has(permission));
    const removed = [...held].filter((permission) => !wanted.has(permission));
    const changes = changedMembers(before, { name, description });
    if (changes === null && added.length + removed.length === 0) return { row: before, permissions: held };
    const change = { name, name_key: nameKey(name), description, modified_at: actor.at };
    await orNameTaken(() => updateRole(trx, id, change));
    await removePermissions(trx, id, removed);
    await addPermissions(trx, id, added);
    const details = { name, ...changes, added, removed };
    await recordAudit(trx, actor, { action: 'role.updated', resourceId: id, details });
    return { row: { ...before, ...change }, permissions: wanted };
  });
}

/**
 * Takes the role from all who hold it, which is for those to do who could give it.
 * @throws HawserError not_found, `system_role`, `beyond_own_permissions`
 */
export async function removeRole(
  database: Database,
  { principal, actor }: Caller,
  id: string,
): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const role = await findCustomRole(trx, id);
    const permissions = [...(await permissionsOfRole(trx, id))];
    await requireOwnPermissions(trx, principal, permissions);
    await deleteRole(trx, id);
    const { name, description } = role;
    const details = { name, description, permissions };
    await recordAudit(trx, actor, { action: 'role.deleted', resourceId: id, details });
  });
}

/** A role that somebody here has made, and not one that every server has. */
async function findCustomRole(trx: Db, id: string): Promise<RoleRow> {
  const role = await findRole(trx, id);
  if (!role) throw notFound('No such role');
  if (role.is_system === 1) throw conflict('system_role', 'A built-in role is neither changed nor deleted');
  return role;
}

function orNameTaken<T>(write: () => Promise<T>): Promise<T> {
  return orConflict('roles.name_key', conflict('name_taken', 'Another role has this name'), write);
}
