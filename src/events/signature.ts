/** Signs what goes to webhooks, by the scheme of Standard Webhooks (standardwebhooks.com, version 1 of its signatures). */

import { createHmac } from 'node:crypto';
import { SECOND } from '../lib/clock.ts';

export const SECRET_PREFIX = 'whsec_';

/**
 * @param id stays the same over all attempts, so that a receiver knows what it has had already
 * @param at is in epoch milliseconds
 */
export function signedHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND));
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
