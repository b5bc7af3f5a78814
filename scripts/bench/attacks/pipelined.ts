/** Many requests of one node at once over one connection. The node does not read the answers. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { requestHead } from '../../../test/support/attacks/requests.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import { ENTRY_POINT } from './site.ts';

const HOLD = 5 * SECOND;
const BUNDLE_BYTES = 1_000_000;

export const PIPELINED_POLLS: Attack = {
  name: 'pipelined-polls',
  label: '20,000 polls in one go, unread',
  waitLimit: TEN_REQUESTS,
  prepare: (site) => pipelined(site, 'checksum', site.amount(20_000, 5_000)),
};

export const PIPELINED_BUNDLES: Attack = {
  name: 'pipelined-bundles',
  label: '1,000 bundles of 1 MB in one go, unread',
  waitLimit: TEN_REQUESTS,
  prepare: (site) => pipelined(site, 'bundle', site.amount(1_000, 200)),
};

async function pipelined(
  site: Parameters<Attack['prepare']>[0],
  resource: 'checksum' | 'bundle',
  count: number,
): Promise<() => Promise<void>> {
  const files = { [ENTRY_POINT]: '$schema: x\nresources: []\n', 'some.bin': randomBytes(BUNDLE_BYTES) };
  await site.publish('pipelined', files);
  const { nodeId, identity } = await site.nodeWith('pipelined.example.org', 'pipelined');
  const one = requestHead('GET', `/api/v1/nodes/${nodeId}/configuration/${resource}`);
  return async () => {
    const connection = await site.raw({ identity, reads: false });
    // The result is not awaited, because it never comes if the server stops reading.
    void connection?.send(one.repeat(count));
    await sleep(HOLD);
  };
}
