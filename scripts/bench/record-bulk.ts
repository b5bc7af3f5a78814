/** Measures bulk deeds on a large database, and how long the polls of another node wait meanwhile. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/lib/clock.ts';
import { machineTime, PollProbe, summarize } from '../../test/support/poll-probe.ts';
import { expect } from './probe.ts';
import type { RecordSite } from './record-site.ts';
import { table, verdict } from './report.ts';

/** The most nodes of one deed. */
const AT_MOST = 10_000;
/** The most milliseconds that a poll may wait. */
const WAIT_TARGET = 50;
/** How long polls are measured before each deed. */
const IDLE_MS = 2 * SECOND;
/** The nodes of this configuration are changed. The node that polls has another one. */
const CHANGED = 'configuration-0003';

interface Deed {
  what: string;
  members: Record<string, unknown>;
  /** The most seconds that it may take; null if there is no target. */
  target: number | null;
}

/** Each does something to all of the nodes. The last one leaves none. */
const DEEDS: readonly Deed[] = [
  { what: 'desired settings', members: { action: 'SetLcmConfig', reportCompliance: true }, target: null },
  {
    what: 'another major of the configuration',
    members: { action: 'Assign', configurationName: CHANGED, majorVersion: 1 },
    target: 10,
  },
  {
    what: 'a pinned version',
    members: { action: 'Assign', configurationName: CHANGED, version: '1.3.0' },
    target: 10,
  },
  { what: 'deleted, with their reports', members: { action: 'Delete' }, target: null },
];

export interface BulkRow {
  what: string;
  nodes: number;
  seconds: number;
  target: number | null;
  /** The longest waits of a poll in milliseconds: before the deed and during it, and the delay of the probe itself. */
  idle: number;
  longest: number;
  ownDelay: number;
  met: boolean;
}

export async function measureBulk(site: RecordSite): Promise<BulkRow[]> {
  const probe = await PollProbe.start(site.endpoint, site.polling);
  try {
    const rows: BulkRow[] = [];
    for (const deed of DEEDS) rows.push(await measureDeed(site, probe, deed));
    return rows;
  } finally {
    probe.kill();
  }
}

async function measureDeed({ client }: RecordSite, probe: PollProbe, deed: Deed): Promise<BulkRow> {
  const { what, members, target } = deed;
  const filter = { configurationName: CHANGED };
  const list = await client.get(`/api/v1/nodes?take=1&configurationName=${CHANGED}`);
  const nodes = Number(list.headers['x-total-count']);
  const before = machineTime();
  await sleep(IDLE_MS);
  const start = machineTime();
  const reply = await client.post('/api/v1/nodes/bulk', { ...members, filter, expectedCount: nodes });
  const seconds = (machineTime() - start) / SECOND;
  expect(reply.status === 200 && reply.json.done === nodes && nodes <= AT_MOST, what, reply);
  await probe.answered(2);
  const polls = await probe.look();
  const idle = summarize(polls.filter((poll) => poll.start >= before && poll.start < start)).longest;
  const { longest, ownDelay, wrong } = summarize(polls.filter((poll) => poll.start >= start));
  const met = longest <= WAIT_TARGET && wrong === 0 && (target === null || seconds <= target);
  return { what, nodes, seconds, target, idle, longest, ownDelay, met };
}

export function formatBulk(rows: readonly BulkRow[]): string {
  const header = [
    'bulk deeds',
    '',
    'nodes',
    'seconds',
    'at most',
    'idle ms',
    'longest ms',
    'at most',
    'own ms',
  ];
  const cells = rows.map(({ what, met, nodes, seconds, target, idle, longest, ownDelay }) => [
    ...[what, verdict(met), String(nodes), seconds.toFixed(1), target === null ? '' : String(target)],
    ...[idle.toFixed(0), longest.toFixed(0), String(WAIT_TARGET), ownDelay.toFixed(0)],
  ]);
  return ['bulk deeds, and the polls of another node meanwhile', ...table([header, ...cells])].join('\n');
}
