/** What a user may do now, for a deed that the user has ordered before. */

import type { Db } from '../db/database.ts';
import type { UserPrincipal } from './principal.ts';
import { heldPermissions } from './rights.ts';

/**
 * The user with all permissions that the user holds now, as in a session. No credential stands behind it, so it must go to
 * nothing but checks of rights.
 * @returns null where the user was deleted or is inactive
 */
export async function rightsOfUser(db: Db, userId: string): Promise<UserPrincipal | null> {
  const user = await db
    .selectFrom('users')
    .select(['username', 'email', 'account_type'])
    .where('id', '=', userId)
    .where('is_active', '=', 1)
    .executeTakeFirst();
  if (user === undefined) return null;
  const permissions = await heldPermissions(db, userId);
  return {
    kind: 'user',
    userId,
    username: user.username,
    email: user.email,
    accountType: user.account_type,
    authMethod: 'Session',
    credentialId: '',
    scopes: null,
    credentialEndsAt: null,
    permissions,
    ownPermissions: permissions,
    requirePasswordChange: false,
    authProvider: 'Local',
    renewedSession: null,
  };
}
