/** Connections of one node, each with a request whose body stops in the middle. */

import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { SECOND } from '../../../src/lib/clock.ts';
import { halfSent } from '../../../test/support/attacks/requests.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import { inLanes } from './site.ts';

const LANES = 8;
const HOLD = 3 * SECOND;
/** How many calls of nodes the server carries out at once, and a tenth of it for `--quick`. */
const PLACES = { full: 4_000, quick: 400 };

export const HALF_SENT: Attack = {
  name: 'half-sent-calls',
  label: 'one node, 100 more half-sent calls than there are places',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    const { nodeId, identity } = await site.nodeWith('half-sent.example.org', 'attacked');
    const { cert, key } = identity;
    const secureContext = createSecureContext({ ca: site.endpoint.ca, cert, key });
    const call = halfSent(
      // This is not a report, because the server limits the number of reports of each node before it reads them.
      'PUT',
      `/api/v1/nodes/${nodeId}/lcm-status`,
      JSON.stringify({ lcmStatus: 'Testing', filler: 'x'.repeat(400) }),
    );
    return async () => {
      await inLanes(LANES, site.amount(PLACES.full, PLACES.quick) + 100, async () => {
        const connection = await site.raw({ secureContext });
        await connection?.send(call);
      });
      await sleep(HOLD);
    };
  },
};
