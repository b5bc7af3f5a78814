/** Measures how long after its answer a publish is offered, by the server that took it and by the other one. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, makeUncheckedClient } from '../../test/support/client.ts';
import { percentile } from './connections.ts';
import { VERSIONS } from './fleet.ts';
import { median } from './measure.ts';
import { expect } from './probe.ts';
import { ACTS } from './publishing.ts';
import { table, verdict } from './report.ts';
import type { SharedSite, Stage } from './servers.ts';

/** The most milliseconds until 95 of 100 publishes are visible at the other server, and until all are. */
const P95_TARGET = 300;
const LONGEST_TARGET = 1_000;
/** Milliseconds between two polls of one node. */
const PAUSE = 1;
const PLACES = ['the same server', 'the other server'] as const;

export interface VisibleRow {
  polled: (typeof PLACES)[number];
  publishes: number;
  /** Milliseconds from the answer of the publish to the answer of the first poll that has it. */
  median: number;
  p95: number;
  longest: number;
  met: boolean;
}

/** Publishes go to the first server. Every second one is looked for at the other. */
export async function measureVisible(
  { effort: { servers: amounts } }: Stage,
  site: SharedSite,
): Promise<VisibleRow[]> {
  const node = site.fleet.connecting[0];
  if (node === undefined) throw new Error('no node of the fleet can connect');
  const nodes = site.servers.map(({ endpoint }) => makeUncheckedClient(endpoint, node.identity));
  const path = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
  const author = { client: site.clients[0], name: node.configurationName };
  const times = PLACES.map(() => [] as number[]);
  for (let turn = 0; turn < PLACES.length * amounts.publishes; turn += 1) {
    const minor = VERSIONS + turn;
    const at = turn % PLACES.length;
    for (const { act } of ACTS) await act(author, minor);
    times[at]?.push(await waitFor(nodes[at] as Client, path, `1.${minor}.0`));
  }
  for (const client of nodes) client.close();
  return PLACES.map((polled, at) => rowOf(polled, times[at] ?? []));
}

/** @returns milliseconds until a poll is answered with the version */
async function waitFor(node: Client, path: string, version: string): Promise<number> {
  const start = performance.now();
  for (;;) {
    const reply = await node.get(path);
    expect(reply.status === 200, 'a poll', reply);
    if (reply.json.version === version) return performance.now() - start;
    await sleep(PAUSE);
  }
}

function rowOf(polled: VisibleRow['polled'], times: readonly number[]): VisibleRow {
  const [p95, longest] = [percentile([...times], 0.95), Math.max(...times)];
  const met = p95 <= P95_TARGET && longest <= LONGEST_TARGET;
  return { polled, publishes: times.length, median: median(times), p95, longest, met };
}

export function formatVisible(rows: readonly VisibleRow[]): string {
  const columns = [
    'publish to visible',
    'publishes',
    'median ms',
    'p95 ms',
    'at most',
    'longest ms',
    'at most',
    '',
  ];
  const cells = rows.map(({ polled, publishes, median: middle, p95, longest, met }) => [
    ...[`a node polls ${polled}`, String(publishes), middle.toFixed(1), p95.toFixed(1), String(P95_TARGET)],
    ...[longest.toFixed(1), String(LONGEST_TARGET), verdict(met)],
  ]);
  return table([columns, ...cells]).join('\n');
}
