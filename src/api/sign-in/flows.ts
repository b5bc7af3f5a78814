/**
 * Sign-ins that were begun. The browser keeps a secret in a cookie, the provider sends the state back, and the row has the
 * hashes of both: so any server can finish a flow, once, and only in the browser that began it.
 */

import type { Database } from '../../db/database.ts';
import { MINUTE, SECOND } from '../../lib/clock.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { newSecret } from '../../lib/ids.ts';
import type { Flow } from '../../security/openid/provider.ts';
import { flowInvalid } from '../../security/openid/provider-faults.ts';

const LIFETIME = 10 * MINUTE;
const COOKIE = '__Host-hawser_oidc';
const PATTERN = /(?:^|;\s*)__Host-hawser_oidc=([A-Za-z0-9_-]{43})(?:;|$)/;

/** What is known of a flow beside its secrets. */
export interface FlowFacts {
  provider: string;
  /** The path to go on to; null for the start of the console. */
  returnTo: string | null;
  /** The account that the identity is to belong to, and the session that asked for it. */
  link: { userId: string; session: string } | null;
}

/** The secret of a browser that has begun a flow before. All flows of a browser share it. */
export function browserSecret(cookie: string | undefined): string | null {
  return PATTERN.exec(cookie ?? '')?.[1] ?? null;
}

/** Lax, because the browser comes back from another site. */
export function flowCookie(secret: string): string {
  return `${COOKIE}=${secret}; Path=/; Max-Age=${LIFETIME / SECOND}; HttpOnly; Secure; SameSite=Lax`;
}

export async function beginFlow(
  { write }: Database,
  { provider, returnTo, link }: FlowFacts,
  { cookie, now }: { cookie: string | undefined; now: number },
): Promise<Flow> {
  const flow = { browser: browserSecret(cookie) ?? newSecret(), state: newSecret() };
  await write.transaction().execute(async (trx) => {
    await trx.deleteFrom('sign_in_flows').where('expires_at', '<=', now).execute();
    await trx
      .insertInto('sign_in_flows')
      .values({
        state_hash: sha256Hex(flow.state),
        browser_hash: sha256Hex(flow.browser),
        provider,
        return_to: returnTo,
        link_user_id: link?.userId ?? null,
        link_session: link?.session ?? null,
        expires_at: now + LIFETIME,
      })
      .execute();
  });
  return flow;
}

/**
 * Takes a flow out, so that it ends once.
 * @throws HawserError invalid `oidc_flow_invalid`
 */
export async function takeFlow(
  { write }: Database,
  provider: string,
  { cookie, state, now }: { cookie: string | undefined; state: unknown; now: number },
): Promise<{ flow: Flow; facts: FlowFacts }> {
  const browser = browserSecret(cookie);
  if (browser === null || typeof state !== 'string') throw flowInvalid();
  const row = await write
    .transaction()
    .execute((trx) =>
      trx
        .deleteFrom('sign_in_flows')
        .where('state_hash', '=', sha256Hex(state))
        .where('browser_hash', '=', sha256Hex(browser))
        .where('provider', '=', provider)
        .where('expires_at', '>', now)
        .returningAll()
        .executeTakeFirst(),
    );
  if (row === undefined) throw flowInvalid();
  const { return_to: returnTo, link_user_id: userId, link_session: session } = row;
  const link = userId === null || session === null ? null : { userId, session };
  return { flow: { browser, state }, facts: { provider, returnTo, link } };
}
