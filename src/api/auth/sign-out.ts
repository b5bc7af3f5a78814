/** Sign-out: the session ends on the server, wherever its cookie may still be. */

import type { Database } from '../../db/open.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { deleteSession } from './queries.ts';

/** Header that makes the browser forget the session too. */
export const ENDED_SESSION = { 'Set-Cookie': sessionCookie('', 0) };

/** @param principal of a session */
export async function signOut(database: Database, principal: UserPrincipal, actor: Actor): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    // Two sign-outs at once end it once.
    if (!(await deleteSession(trx, principal.credentialId))) return;
    await recordAudit(trx, actor, { action: 'session.ended', resourceId: principal.userId });
  });
}
