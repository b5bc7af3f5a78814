/**
 * Compares two servers on one PostgreSQL with one. A machine with few cores cannot give each process a core of its own, so
 * what two servers could answer is reckoned from the processor time that each call takes while both are busy.
 */

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { cpuSecondsOf } from './cpu.ts';
import type { Fleet } from './fleet.ts';
import { median, middleHalf } from './measure.ts';
import type { LoadClient } from './messages.ts';
import { probe } from './probe.ts';
import type { LoadGenerator, ServerProcess } from './processes.ts';
import { formatRange, table, verdict } from './report.ts';
import { inTurn, type Side } from './scale.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import type { SharedSite, Stage } from './servers.ts';

/** The least that two servers answer, as a multiple of what one does, where each has a core. */
const TARGET = 1.8;
/** A round of changes has so many requests for each server. They take turns, so they are few. */
const CHANGES = 100;
const POLLS = SCENARIOS.filter(({ resource, newConnections }) => resource === 'checksum' && !newConnections);

/** What one or two servers do; medians of the rounds. */
export interface PairRow {
  what: string;
  servers: number;
  /** What all of them answered in a second, beside the generators on the same cores. */
  seen: number;
  /** Microseconds of a server's processor time for a call, and of PostgreSQL's. */
  cpu: number;
  databaseCpu: number;
  /** What all of them could answer in a second if each had a core. */
  possible: number;
  ratio: number | null;
  ratioRange: [lower: number, upper: number] | null;
  target: number | null;
}

interface Sample {
  seen: number;
  cpu: number;
  databaseCpu: number;
}

interface Load {
  what: string;
  requests: number;
  /** The clients of each server. */
  clients: LoadClient[][];
  target: number | null;
}

export async function measurePair(stage: Stage, site: SharedSite): Promise<PairRow[]> {
  const { processes, effort } = stage;
  if (availableParallelism() > 1) for (const [core, { pid }] of site.servers.entries()) pin(pid, core);
  const generators = site.servers.map(() => processes.startGenerator());
  const shares = site.servers.map((_, at) => shareOf(site.fleet, at, effort.connections));
  const rows: PairRow[] = [];
  for (const scenario of POLLS) {
    const requests = Math.ceil(scenario.requests * effort.share);
    const clients = await clientsOf(site, shares, scenario);
    const load = { what: scenario.label, requests, clients, target: TARGET };
    rows.push(...(await compareLoads(stage, site.servers, generators, load)));
  }
  const changes = shares.map(({ connecting }) =>
    connecting.map(({ nodeId, identity }) => ({
      identity,
      request: statusOf(nodeId),
      status: 204,
      body: null,
    })),
  );
  const load = { what: 'status event', requests: CHANGES, clients: changes, target: null };
  rows.push(...(await compareLoads(stage, site.servers, generators, load)));
  return rows;
}

/** Lets all threads of a process run on one core. */
function pin(pid: number, core: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)], {
    stdio: 'ignore',
  });
}

/** Each server has nodes of its own. */
function shareOf(fleet: Fleet, at: number, connections: number): Fleet {
  return { ...fleet, connecting: fleet.connecting.slice(at * connections, (at + 1) * connections) };
}

async function clientsOf(
  { servers }: SharedSite,
  shares: readonly Fleet[],
  scenario: Scenario,
): Promise<LoadClient[][]> {
  const clients: LoadClient[][] = [];
  for (const [at, { endpoint }] of servers.entries())
    clients.push((await probe(endpoint, shares[at] as Fleet, scenario)).clients);
  return clients;
}

function statusOf(nodeId: string): string {
  const body = JSON.stringify({ lcmStatus: 'Idle' });
  const head = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  return `PUT /api/v1/nodes/${nodeId}/lcm-status HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}

/** The side `few` is one server, and `many` are both. */
async function compareLoads(
  { cluster, effort }: Stage,
  servers: readonly ServerProcess[],
  generators: readonly LoadGenerator[],
  load: Load,
): Promise<PairRow[]> {
  const samples = { few: [] as Sample[], many: [] as Sample[] };
  const factor = load.target === null ? 1 : 2;
  const rounds = { rounds: factor * effort.rounds, warmUpRounds: effort.warmUpRounds };
  await inTurn(rounds, async (side, counts) => {
    const busy = side === 'few' ? servers.slice(0, 1) : servers;
    const databaseCpu = cluster.countCpu();
    const before = busy.map(({ pid }) => cpuSecondsOf(pid));
    const start = performance.now();
    await Promise.all(
      busy.map(({ endpoint }, at) =>
        generators[at]?.run({
          ...{ endpoint, clients: load.clients[at] ?? [], newConnections: false, requests: load.requests },
        }),
      ),
    );
    const seconds = (performance.now() - start) / 1_000;
    const calls = busy.length * load.requests;
    const cpu = busy.reduce((sum, { pid }, at) => sum + cpuSecondsOf(pid) - (before[at] ?? 0), 0);
    const micro = (value: number) => (value * 1e6) / calls;
    if (counts)
      samples[side].push({ seen: calls / seconds, cpu: micro(cpu), databaseCpu: micro(databaseCpu()) });
  });
  return [rowOf(load, 'few', samples), rowOf(load, 'many', samples)];
}

function rowOf({ what, target }: Load, side: Side, samples: Record<Side, Sample[]>): PairRow {
  const middle = (pick: (sample: Sample) => number) => median(samples[side].map(pick));
  const servers = side === 'few' ? 1 : 2;
  const cpu = middle((sample) => sample.cpu);
  const ofAll = { what, servers, seen: middle(({ seen }) => seen), cpu, possible: (servers * 1e6) / cpu };
  const row = { ...ofAll, databaseCpu: middle(({ databaseCpu }) => databaseCpu) };
  if (side === 'few') return { ...row, ratio: null, ratioRange: null, target: null };
  const ratios = samples.many.map((both, round) => ratioOf(samples.few[round], both, target === null));
  return { ...row, ratio: median(ratios), ratioRange: middleHalf(ratios), target };
}

/** Changes wait for PostgreSQL and not for a core, so what was seen is compared; of polls, what is possible. */
function ratioOf(one: Sample | undefined, both: Sample, bySight: boolean): number {
  if (one === undefined) return Number.NaN;
  return bySight ? both.seen / one.seen : (2 * one.cpu) / both.cpu;
}

export function formatPair(rows: readonly PairRow[]): string {
  const columns = [
    ...['two servers', 'servers', 'seen/s', 'CPU us', 'database CPU us', 'possible/s'],
    ...['ratio', 'half within', 'target', ''],
  ];
  const cells = rows.map(({ what, servers, seen, cpu, databaseCpu, possible, ratio, ratioRange, target }) => [
    ...[what, String(servers), seen.toFixed(0), cpu.toFixed(1), databaseCpu.toFixed(1), possible.toFixed(0)],
    ratio === null ? '' : `${ratio.toFixed(2)} x`,
    ratioRange === null ? '' : formatRange(ratioRange),
    target === null ? '' : `${target.toFixed(2)} x`,
    target === null || ratio === null ? '' : verdict(ratio >= target),
  ]);
  return table([columns, ...cells]).join('\n');
}
