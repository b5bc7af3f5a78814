/** Ends sessions because the provider says so (OpenID Connect Back-Channel Logout 1.0). */

import type { Database } from '../db/database.ts';
import { useToken } from '../db/used-tokens.ts';
import { fromNumericDate } from '../lib/clock.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { isText } from '../security/openid/claims.ts';
import type { Provider } from '../security/openid/provider.ts';
import { flowInvalid } from '../security/openid/provider-faults.ts';

/** The most characters of a subject or of the name of a session. */
const LONGEST = 1_024;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** @throws HawserError invalid `oidc_flow_invalid`, unavailable `oidc_unavailable` */
export async function endSessionsOf(
  { write }: Database,
  actor: Actor,
  provider: Provider,
  token: string,
): Promise<void> {
  const { iss, sub, sid, iat, exp, jti, events, nonce } = await provider.readLogoutToken(token);
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT);
  const names = [sub, sid].filter((name) => name !== undefined);
  // A token with a nonce is an ID token (2.4).
  if (!isLogout || nonce !== undefined || names.length === 0) throw flowInvalid();
  if (!names.every((name) => isText(name, LONGEST)) || typeof jti !== 'string') throw flowInvalid();
  const issuer = String(iss);
  await write.transaction().execute(async (trx) => {
    const token = { issuer, id: jti, expiresAt: typeof exp === 'number' ? exp : undefined };
    if (!(await useToken(trx, token, actor.at))) throw flowInvalid();
    // A session that was begun later is not meant.
    const until = fromNumericDate(Number(iat) + 1);
    let sessions = trx
      .selectFrom('sessions')
      .innerJoin('identities', 'identities.id', 'sessions.identity_id')
      .select(['sessions.token_hash', 'sessions.user_id'])
      .where('identities.issuer', '=', issuer)
      .where('sessions.created_at', '<', until);
    if (typeof sub === 'string') sessions = sessions.where('identities.subject', '=', sub);
    if (typeof sid === 'string') sessions = sessions.where('sessions.provider_session', '=', sid);
    const ended = await sessions.execute();
    for (const { token_hash: hash, user_id: userId } of ended) {
      await trx.deleteFrom('sessions').where('token_hash', '=', hash).execute();
      const details = { provider: provider.settings.name };
      await recordAudit(trx, actor, { action: 'session.ended', resourceId: userId, details });
    }
  });
}
