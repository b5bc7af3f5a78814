/**
 * Measures what a fleet needs of a machine: memory and open files of a server with 1,000 to 50,000 nodes, each of which has
 * polled, and bytes on the disk. The memory of connections is compared with that of the bare server in the same run.
 */

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Growth, measureGrowth } from './capacity-disk.ts';
import { makeCrowdIdentities } from './crowd-identities.ts';
import { type ConnectingNode, type Fleet, type FleetSize, makeFleet } from './fleet.ts';
import { memoryOf } from './memory.ts';
import type { CannedAnswer } from './messages.ts';
import { requestText } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import type { Effort } from './scenarios.ts';
import { PROXY_ADDRESS, visitByProxy } from './visits.ts';

/** The amounts of this part. */
export interface CapacityAmounts {
  configurations: number;
  /** The numbers of nodes of the fleets. */
  fleets: readonly number[];
  /** The most connections that are open at once. A process may open some 20,000 files. */
  connections: number;
  /** How many reports of each size are written. */
  reports: number;
}

/** What a process uses. */
interface Use {
  /** Resident memory, in bytes. */
  memory: number;
  files: number;
}

interface FleetUse {
  size: FleetSize;
  /** Milliseconds from the process's start until it listens. */
  readyMs: number;
  ready: Use;
  /** How many connections were open in `connected`, and in `polled` too. */
  connections: number;
  connected: Use;
  /** After the nodes without a connection have polled as well, through a proxy. */
  polled: Use;
  peak: number;
}

export interface CapacityResults {
  fleets: FleetUse[];
  bare: { connections: number; empty: Use; connected: Use };
  growth: Growth[];
}

/** @param progress is called with what begins */
export async function measureCapacity(
  folder: string,
  template: string,
  processes: Processes,
  { capacity: amounts }: Effort,
  progress: (message: string) => void,
): Promise<CapacityResults> {
  const growth = await measureGrowth(join(folder, 'capacity-disk'), template, amounts, progress);
  const fleets: FleetUse[] = [];
  let bare: CapacityResults['bare'] | undefined;
  for (const nodes of amounts.fleets) {
    const size = { configurations: amounts.configurations, nodes };
    progress(`measuring: ${nodes} nodes`);
    const site = join(folder, `capacity-${nodes}`);
    mkdirSync(site);
    const fleet = await makeFleet(site, template, size, await makeCrowdIdentities(nodes));
    const connecting = fleet.connecting.slice(0, amounts.connections);
    fleets.push(await measureFleet(processes, fleet, connecting));
    if (nodes === amounts.fleets.at(-1)) {
      progress(`measuring: ${connecting.length} connections to the bare server`);
      bare = await measureBare(processes, site, connecting);
    }
  }
  if (bare === undefined) throw new Error('there is no fleet to be measured');
  return { fleets, bare, growth };
}

/** The first nodes connect and stay; the others poll through a proxy, because the machine has not so many open files. */
async function measureFleet(
  processes: Processes,
  fleet: Fleet,
  connecting: readonly ConnectingNode[],
): Promise<FleetUse> {
  const settings = { HAWSER_TRUSTED_PROXIES: PROXY_ADDRESS };
  const begun = performance.now();
  const server = await processes.startHawser(fleet.folder, { settings });
  const readyMs = performance.now() - begun;
  const ready = useOf(server);
  const disconnect = await connect(processes, server, connecting);
  const connected = useOf(server);
  await visitByProxy(server.endpoint, fleet.connecting.slice(connecting.length));
  const polled = useOf(server);
  const { peak } = memoryOf(server.pid);
  await disconnect();
  await processes.end(server);
  return {
    ...{ size: fleet.size, readyMs, ready, connections: connecting.length },
    ...{ connected, polled, peak },
  };
}

/** Each node opens a connection of its own, polls, and stays. @returns a function that ends the connections */
async function connect(
  processes: Processes,
  { endpoint }: ServerProcess,
  nodes: readonly ConnectingNode[],
): Promise<() => Promise<void>> {
  const crowd = processes.startCrowd();
  const asking = nodes.map(({ nodeId, identity }) => ({
    identity,
    request: requestText(`/api/v1/nodes/${nodeId}/configuration/checksum`, {}),
  }));
  await crowd.connect(endpoint, asking);
  return () => processes.end(crowd);
}

async function measureBare(processes: Processes, folder: string, nodes: readonly ConnectingNode[]) {
  const server = await processes.startBare(folder);
  const body = Buffer.from(
    JSON.stringify({ checksum: 'f'.repeat(64), configurationName: 'some', version: '1.0.0' }),
  );
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  await server.answerWith({ status: 200, headers, body } satisfies CannedAnswer);
  const empty = useOf(server);
  const disconnect = await connect(processes, server, nodes);
  const connected = useOf(server);
  await disconnect();
  await processes.end(server);
  return { connections: nodes.length, empty, connected };
}

function useOf({ pid }: ServerProcess): Use {
  return { memory: memoryOf(pid).now, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** Bytes of memory for each open connection. */
function perConnection(connections: number, before: Use, after: Use): number {
  return (after.memory - before.memory) / connections;
}

export function formatCapacity({ fleets, bare, growth }: CapacityResults): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  const kilobytes = (bytes: number) => (bytes / 1e3).toFixed(1);
  const memory = fleets.map((each) => [
    String(each.size.nodes),
    String(each.connections),
    megabytes(each.ready.memory),
    megabytes(each.connected.memory),
    megabytes(each.polled.memory),
    megabytes(each.peak),
    kilobytes(perConnection(each.connections, each.ready, each.connected)),
    `${each.ready.files}, ${each.connected.files}`,
    `${each.readyMs.toFixed(0)} ms`,
  ]);
  const bareEach = perConnection(bare.connections, bare.empty, bare.connected);
  const largest = fleets.at(-1) as FleetUse;
  const each = perConnection(largest.connections, largest.ready, largest.connected);
  const titles = ['nodes', 'open connections', 'MB at start', 'MB connected', 'MB when all have polled'];
  return [
    `memory and open files, ${largest.size.configurations} configurations`,
    ...table([[...titles, 'at most', 'KB a connection', 'open files', 'listens after'], ...memory]),
    `  bare server, ${bare.connections} connections: ${megabytes(bare.empty.memory)} MB at start, ` +
      `${megabytes(bare.connected.memory)} MB connected, ${kilobytes(bareEach)} KB a connection; ` +
      `Hawser ${(each / bareEach).toFixed(2)} x`,
    '',
    'bytes on the disk of each row, with all indexes',
    ...table([
      ['row', 'bytes of its text', 'SQLite', 'PostgreSQL'],
      ...growth.map(({ what, text, sqlite, postgres }) => [
        what,
        text === null ? '-' : String(text),
        sqlite.toFixed(0),
        postgres === null ? '-' : postgres.toFixed(0),
      ]),
    ]).map((row) => `  ${row}`),
  ].join('\n');
}
