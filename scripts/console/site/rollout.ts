/**
 * A rollout that is under way, for those who look at its page. The seeded site has none, as it changes who gets what. The
 * webhook of the site is told of it.
 */

import type { Client } from '../../../test/support/client.ts';
import { ok } from '../../../test/support/replies.ts';
import type { Site } from '../seed.ts';
import { activateWebhook } from './webhook.ts';

const NAME = 'database';
const VERSION = '2.1.0';

/** Rolls the draft of `database` out by environments; some nodes of the first step have taken it. */
export async function rollOutDatabase(admin: Client, { machines, webhook }: Site): Promise<void> {
  await activateWebhook(admin, webhook.id);
  await ok(200, admin.put('/api/v1/settings/rollouts', { rolloutScopeType: 'Environment' }));
  const steps = [
    { ring: 'prod', percent: 50, gate: { minNodes: 10, maxRegressions: 5, maxSilent: 2 } },
    { ring: 'prod', gate: { approval: true, bakeTime: '04:00:00' } },
    { ring: null, gate: {} },
  ];
  const plan = { version: VERSION, steps, onHalt: 'Revert', message: 'More memory for queries.' };
  const path = `/api/v1/configurations/${NAME}/rollouts`;
  await ok(201, admin.post(path, plan));
  const assigned = machines.filter(({ plan: { assignment } }) => assignment?.configurationName === NAME);
  for (const machine of assigned.filter((_, at) => at % 4 !== 3)) await machine.cycle();
  const body = { reason: 'The replicas are being moved.', expectedState: 'Running' };
  await ok(200, admin.post(`${path}/${VERSION}/pause`, body));
  await ok(
    200,
    admin.post(`${path}/${VERSION}/resume`, { reason: 'They have moved.', expectedState: 'Paused' }),
  );
}
