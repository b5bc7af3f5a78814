/**
 * The attacker. It is a separate process, so that its CPU and memory are not the bench's, and so that it can be
 * stopped.
 */

import { setPriority } from 'node:os';
import type { AttackOrder, AttackReport } from './attack.ts';
import { attackNamed } from './rows.ts';
import { Site } from './site.ts';

/** Lower than the server's priority, because real attackers run on other machines. */
const PRIORITY = 10;
const TELL_EVERY_MS = 250;

type Prepare = Extract<AttackOrder, { kind: 'prepare' }>;

let site: Site | null = null;
let attack: () => Promise<void> = async () => undefined;

async function prepare({ name, endpoint, folder, isQuick }: Prepare): Promise<void> {
  site = await Site.open(endpoint, folder, isQuick);
  const node = await site.nodeWith('polled.example.org', 'polled');
  attack = await attackNamed(name).prepare(site);
  tell({ kind: 'prepared', node });
}

async function carryOut(site: Site): Promise<void> {
  const timer = setInterval(() => tell({ kind: 'traffic', traffic: site.traffic.summary }), TELL_EVERY_MS);
  await attack();
  clearInterval(timer);
  tell({ kind: 'done', traffic: site.traffic.summary });
}

function tell(report: AttackReport): void {
  process.send?.(report);
}

setPriority(PRIORITY);
process.on('message', (order: AttackOrder) => {
  const work = order.kind === 'prepare' ? prepare(order) : site && carryOut(site);
  work?.catch((error: Error) => tell({ kind: 'failed', message: error.stack ?? error.message }));
});
process.once('disconnect', () => process.exit(0));
