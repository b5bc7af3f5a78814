/**
 * Begins sign-ins by providers, and takes up those that come back. The browser keeps a secret, the provider sends the state
 * back, and the row has the hashes of both: so any server can finish a flow, once, and only in the browser that began it.
 */

import type { Database } from '../db/database.ts';
import { MINUTE } from '../lib/clock.ts';
import { sha256Hex } from '../lib/hash.ts';
import { newSecret } from '../lib/ids.ts';
import type { Flow } from '../security/openid/provider.ts';
import { flowInvalid } from '../security/openid/provider-faults.ts';

/** So long a flow may take, in milliseconds. */
export const FLOW_LIFETIME = 10 * MINUTE;

/** What is known of a flow beside its secrets. */
export interface FlowFacts {
  provider: string;
  /** The path to go on to; null for the start of the console. */
  returnTo: string | null;
  /** The account that the identity is to belong to, and the session that asked for it. */
  link: { userId: string; session: string } | null;
}

/** @param browser the secret that the browser has kept since an earlier flow; all flows of a browser share it */
export async function beginFlow(
  { write }: Database,
  { provider, returnTo, link }: FlowFacts,
  { browser, now }: { browser: string | null; now: number },
): Promise<Flow> {
  const flow = { browser: browser ?? newSecret(), state: newSecret() };
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
        expires_at: now + FLOW_LIFETIME,
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
  { browser, state, now }: { browser: string | null; state: unknown; now: number },
): Promise<{ flow: Flow; facts: FlowFacts }> {
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
