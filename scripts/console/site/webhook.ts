/** A webhook. It is not active in the seeded site: nothing is to be called because somebody looks at the console. */

import type { Client } from '../../../test/support/client.ts';
import { ok } from '../../../test/support/replies.ts';

const PATH = '/api/v1/webhooks';
const HOST = '10.20.0.15';
/** The address is private, so the server refuses it, and no call leaves the machine. */
const WEBHOOK = {
  url: `https://${HOST}/hooks/hawser`,
  events: ['rollout.*', 'configuration.version_published'],
};

export async function makeWebhook(admin: Client): Promise<{ id: string; host: string }> {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const { id } = await ok(201, admin.post(PATH, { ...WEBHOOK, secret, isActive: false }));
  return { id, host: HOST };
}

/** From now on events wait for it, which are shown as deliveries. */
export async function activateWebhook(admin: Client, id: string): Promise<void> {
  await ok(200, admin.put(`${PATH}/${id}`, WEBHOOK));
}
