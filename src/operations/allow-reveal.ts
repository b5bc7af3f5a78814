/** Lets a user see secrets in the clear, from outside the server and while it may run. Nobody could give that by the API. */

import { findAccountByName } from '../db/accounts.ts';
import type { DatabasePlace, Db } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import { insertRole, readRole } from '../deeds/change-role.ts';
import { nameKey } from '../domain/names.ts';
import { REVEAL } from '../domain/permissions.ts';
import { conflict, notFound } from '../lib/errors.ts';
import { type Actor, recordAudit, systemActor } from '../security/audit.ts';
import { USER_ROLES } from '../security/users.ts';
import { requirePresentForm } from './present-form.ts';

const ROLE = { name: 'Secret readers', description: 'See secrets in the clear', permissions: [REVEAL] };

/**
 * Gives the user the role `Secret readers`, which is made where it is absent. Who has it may give it to others.
 * @returns a sentence on what was done
 * @throws HawserError not_found; conflict `role_without_permission`
 * @throws Error where the database is absent or of another release
 */
export async function allowReveal(place: DatabasePlace, username: string, now: number): Promise<string> {
  await requirePresentForm(place);
  const database = await openDatabase(place);
  try {
    return await database.write.transaction().execute(async (trx) => {
      const user = await findAccountByName(trx, username);
      if (!user) throw notFound(`there is no user "${username}"`);
      const actor = systemActor(now);
      const roleId = await ensureRole(trx, actor);
      const mayReveal = `"${user.username}" may see the secrets of all parameters that they may read`;
      if ((await USER_ROLES.names(trx, user.id)).has(roleId))
        return `${mayReveal} already, by the role "${ROLE.name}".`;
      await USER_ROLES.add(trx, user.id, [roleId]);
      const details = { username: user.username, added: [ROLE.name], removed: [], by: 'command line' };
      await recordAudit(trx, actor, { action: 'user.roles_changed', resourceId: user.id, details });
      return `${mayReveal}, by the role "${ROLE.name}". Each secret that they see is in the audit trail.`;
    });
  } finally {
    await database.close();
  }
}

/** @returns the id of the role */
async function ensureRole(trx: Db, actor: Actor): Promise<string> {
  const key = nameKey(ROLE.name);
  const found = await trx.selectFrom('roles').select('id').where('name_key', '=', key).executeTakeFirst();
  if (found === undefined) return (await insertRole(trx, actor, ROLE)).row.id;
  if ((await readRole(trx, found.id)).permissions.has(REVEAL)) return found.id;
  const message = `there is a role "${ROLE.name}" without the permission ${REVEAL}: rename or delete it first`;
  throw conflict('role_without_permission', message);
}
