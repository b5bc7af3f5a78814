/** Creates, changes and deletes groups. */

import { orConflict } from '../../db/errors.ts';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { nameKey } from '../../domain/names.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { keepingAnAdministrator } from '../../security/delegation.ts';
import {
  deleteGroup,
  findGroup,
  type GroupRow,
  heldRoleNames,
  insertGroup,
  memberNames,
  updateGroup,
} from './queries.ts';
import type { GroupContent } from './schemas.ts';

/** @throws HawserError not_found */
export async function requireGroup(db: Db, id: string): Promise<GroupRow> {
  const group = await findGroup(db, id);
  if (!group) throw notFound('No such group');
  return group;
}

/** @throws HawserError `name_taken` */
export function createGroup(database: Database, actor: Actor, content: GroupContent): Promise<GroupRow> {
  const { name, description } = content;
  const times = { created_at: actor.at, modified_at: actor.at };
  const row = { id: newId(), name, name_key: nameKey(name), description, ...times };
  return database.write.transaction().execute(async (trx) => {
    await orNameTaken(() => insertGroup(trx, row));
    await recordAudit(trx, actor, { action: 'group.created', resourceId: row.id, details: content });
    return row;
  });
}

/** @throws HawserError not_found, `name_taken` */
export async function replaceGroup(
  database: Database,
  actor: Actor,
  id: string,
  { name, description }: GroupContent,
): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const before = await requireGroup(trx, id);
    const changes = changedMembers(before, { name, description });
    if (changes === null) return;
    const change = { name, name_key: nameKey(name), description, modified_at: actor.at };
    await orNameTaken(() => updateGroup(trx, id, change));
    const details = { name, ...changes };
    await recordAudit(trx, actor, { action: 'group.updated', resourceId: id, details });
  });
}

/** @throws HawserError not_found, `last_administrator` */
export async function removeGroup(database: Database, actor: Actor, id: string): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const { name, description } = await requireGroup(trx, id);
    const members = [...(await memberNames(trx, id)).values()];
    const roles = [...(await heldRoleNames(trx, id)).values()];
    await keepingAnAdministrator(trx, () => deleteGroup(trx, id));
    const details = { name, description, members, roles };
    await recordAudit(trx, actor, { action: 'group.deleted', resourceId: id, details });
  });
}

function orNameTaken<T>(write: () => Promise<T>): Promise<T> {
  return orConflict('groups.name_key', conflict('name_taken', 'Another group has this name'), write);
}
