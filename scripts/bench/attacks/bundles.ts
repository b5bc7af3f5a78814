/** Large bundles, read and unread. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { requestHead } from '../../../test/support/attacks/requests.ts';
import { type Attack, type AttackNode, ONE_REQUEST, TEN_REQUESTS } from './attack.ts';
import { ENTRY_POINT, type Files, type Site } from './site.ts';

const MEGABYTE = 1e6;
const MEBIBYTE = 1024 * 1024;
const CHILDREN = 5;
const NODES = 5;
/** The number of downloads that one node may have open. */
const EACH = 2;
const HOLD = 8 * SECOND;

export const UNREAD_BUNDLES: Attack = {
  name: 'unread-bundles',
  label: 'a composite bundle of 205 MB, ten times unread',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    const names = Array.from({ length: CHILDREN }, (_, at) => `child-${at}`);
    for (const name of names) await site.publish(name, filesOf(site.amount(41, 8) * MEGABYTE));
    await site.publishComposite('large', names);
    const nodes: AttackNode[] = [];
    for (let at = 0; at < NODES; at += 1) {
      const node = await site.register(`unread-${at}.example.org`);
      await site.assign(node, 'large', true);
      nodes.push(node);
    }
    return async () => {
      const twice = Array.from({ length: EACH }, () => nodes).flat();
      await Promise.all(twice.map((node) => askForBundle(site, node)));
      await sleep(HOLD);
    };
  },
};

export const ONE_BUNDLE: Attack = {
  name: 'one-bundle',
  label: 'a bundle of 49 MiB, read once',
  waitLimit: ONE_REQUEST,
  async prepare(site) {
    await site.publish('large', filesOf(site.amount(49, 10) * MEBIBYTE));
    const { nodeId, identity } = await site.nodeWith('reader.example.org', 'large');
    const caller = site.caller({ identity });
    return async () => void (await caller.ask({ method: 'GET', path: bundleOf(nodeId) }));
  },
};

function filesOf(bytes: number): Files {
  // Random bytes cannot be compressed.
  return { [ENTRY_POINT]: '$schema: x\nresources: []\n', 'large.bin': randomBytes(bytes) };
}

const bundleOf = (nodeId: string) => `/api/v1/nodes/${nodeId}/configuration/bundle`;

/** Never reads the answer, which stays in the socket. */
async function askForBundle(site: Site, { nodeId, identity }: AttackNode): Promise<void> {
  const connection = await site.raw({ identity, reads: false });
  await connection?.send(requestHead('GET', bundleOf(nodeId)));
}
