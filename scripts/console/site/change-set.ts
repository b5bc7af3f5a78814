/** A change set that waits to be applied, for those who look at its page. It changes nothing that nodes get. */

import type { Client } from '../../../test/support/client.ts';
import { ok } from '../../../test/support/replies.ts';
import type { Site } from '../seed.ts';

const TITLE = 'Faster shops in Europe';

/** Makes the first change set of the site, which has the number 1, and has its preview made. */
export async function proposeChange(admin: Client, { nodes }: Site): Promise<void> {
  const [shop, database] = [{ configurationName: 'shop' }, { configurationName: 'database' }];
  const file = { scopeTypeName: 'Environment', scopeValue: 'prod', version: '2.0.1' };
  const deeds = [
    { kind: 'PublishConfiguration', ...shop, version: '2.2.0' },
    { kind: 'PublishParameters', ...shop, ...file },
    { kind: 'Withdraw', ...shop, version: '1.1.0', reason: 'It opens a port that nobody needs.' },
    { kind: 'Assign', nodeIds: [nodes.behind.id], ...database, majorVersion: 2 },
    { kind: 'SetLcmConfig', nodeIds: [nodes.hostile.id, nodes.behind.id], configurationMode: 'Monitor' },
  ];
  const description = 'The new version comes with its values, so that no shop sees one without the other.';
  await ok(201, admin.post('/api/v1/change-sets', { title: TITLE, description, deeds }));
}
