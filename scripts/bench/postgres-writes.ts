/** Measures how fast PostgreSQL and SQLite take what nodes send: the times of their last calls, and reports. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { DatabasePlace } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { SECOND } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { CheckIns } from '../../src/pull/check-ins.ts';
import { cpuSecondsOf } from './cpu.ts';
import { makeCrowdIdentities } from './crowd-identities.ts';
import { makeFleet } from './fleet.ts';
import { median } from './measure.ts';
import type { BenchCluster } from './postgres-cluster.ts';
import type { Processes } from './processes.ts';
import { table, verdict } from './report.ts';
import { type Effort, SMALL } from './scenarios.ts';

/** The most seconds from the last of the check-ins until all are in the database. */
const CHECK_IN_TARGET = 5;
const RESULT_BYTES = 5 * 1024;
/** Milliseconds without a write after which all is written. */
const QUIET = 300;
/** SQLite, which is measured for comparison only, gets reports for a third of the time. */
const SQLITE_SHARE = 3;
/** The last report may be answered so many seconds after it was due. */
const LATE = 1;
const SIDES = ['SQLite', 'PostgreSQL'] as const;

interface Engine {
  name: (typeof SIDES)[number];
  folder: string;
  databaseUrl: string | null;
  cluster: BenchCluster;
}

export interface CheckInResult {
  engine: string;
  checkIns: number;
  /** Medians of the rounds, and the slowest round. The seconds begin with the last check-in. */
  seconds: number;
  slowest: number;
  /** CPU seconds of Hawser and of PostgreSQL. */
  cpu: number;
  databaseCpu: number;
  met: boolean;
}

export interface IntakeResult {
  engine: string;
  reporters: number;
  perSecond: number;
  seconds: number;
  /** Milliseconds from when a report was due to its answer. */
  p50: number;
  p99: number;
  longest: number;
  /** The share of a core that the server and PostgreSQL needed. */
  cpu: number;
  databaseCpu: number;
  acknowledged: number;
  /** Rows of reports, and nodes with the status that they reported, that are in the database afterwards. */
  kept: number;
  nodesKept: number;
  met: boolean;
}

/** @param folder a new one for each engine is made in it */
async function onBoth<T>(
  folder: string,
  cluster: BenchCluster,
  measureOne: (engine: Engine) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (const name of SIDES) {
    const databaseUrl = name === 'SQLite' ? null : await cluster.newUrl();
    results.push(await measureOne({ name, folder: join(folder, name), databaseUrl, cluster }));
  }
  return results;
}

/** All nodes call, and nothing else happens. It is measured behind HTTP, because no generator makes so many calls a second. */
export function measureCheckIns(
  folder: string,
  template: string,
  cluster: BenchCluster,
  { postgres: { checkIns, checkInRounds } }: Effort,
): Promise<CheckInResult[]> {
  return onBoth(folder, cluster, async (engine) => {
    await makeFleet(engine.folder, template, { ...SMALL, nodes: checkIns }, [], engine.databaseUrl);
    const samples: CheckInSample[] = [];
    for (let round = 0; round < checkInRounds; round += 1) samples.push(await takeCheckIns(engine, checkIns));
    const middle = (pick: (sample: CheckInSample) => number) => median(samples.map(pick));
    const seconds = middle((sample) => sample.seconds);
    return {
      ...{ engine: engine.name, checkIns, seconds, met: seconds <= CHECK_IN_TARGET },
      slowest: Math.max(...samples.map((sample) => sample.seconds)),
      cpu: middle((sample) => sample.cpu),
      databaseCpu: middle((sample) => sample.databaseCpu),
    };
  });
}

interface CheckInSample {
  seconds: number;
  cpu: number;
  databaseCpu: number;
}

async function takeCheckIns(engine: Engine, count: number): Promise<CheckInSample> {
  let lastWrite = 0;
  let cpuThen = 0;
  const onWritten = () => {
    lastWrite = performance.now();
    cpuThen = cpuSecondsOf(process.pid);
  };
  const database = await openDatabase(placeOf(engine), {
    watch: { onWritten, onWriteWaited: () => undefined },
  });
  const nodes = await database.read.selectFrom('nodes').select('id').execute();
  const checkIns = new CheckIns(database, createLog('silent'));
  const now = Date.now();
  const databaseCpu = engine.cluster.countCpu();
  const cpu = cpuSecondsOf(process.pid);
  for (const { id } of nodes) checkIns.note(id, now);
  const start = performance.now();
  // The first batch is written within a second.
  do await sleep(QUIET);
  while (performance.now() < Math.max(start + SECOND, lastWrite) + QUIET);
  const sample = { seconds: (lastWrite - start) / SECOND, cpu: cpuThen - cpu, databaseCpu: databaseCpu() };
  const { written } = await database.read
    .selectFrom('node_check_ins')
    .select(({ fn }) => fn.countAll<number>().as('written'))
    .where('last_check_in', '=', now)
    .executeTakeFirstOrThrow();
  if (written !== count) throw new Error(`${written} of ${count} check-ins were written`);
  await checkIns.close();
  await database.close();
  return sample;
}

/** Nodes report over HTTP, each over its own connection. */
export function measureIntake(
  folder: string,
  template: string,
  cluster: BenchCluster,
  processes: Processes,
  { postgres: { reporters, reportsPerSecond, reportSeconds } }: Effort,
): Promise<IntakeResult[]> {
  return onBoth(folder, cluster, async (engine) => {
    const { databaseUrl } = engine;
    const seconds = databaseUrl === null ? Math.ceil(reportSeconds / SQLITE_SHARE) : reportSeconds;
    const identities = await makeCrowdIdentities(reporters);
    const size = { ...SMALL, nodes: reporters };
    const fleet = await makeFleet(engine.folder, template, size, identities, databaseUrl);
    const settings: Record<string, string> = databaseUrl === null ? {} : { HAWSER_DATABASE_URL: databaseUrl };
    const server = await processes.startHawser(engine.folder, { settings });
    const nodes = fleet.connecting.map(({ nodeId, identity }) => ({ identity, request: reportOf(nodeId) }));
    const databaseCpu = cluster.countCpu();
    const cpu = cpuSecondsOf(server.pid);
    const { kind: _, ...outcome } = await processes.report({
      ...{ endpoint: server.endpoint, nodes, perSecond: reportsPerSecond, seconds },
    });
    const used = { cpu: cpuSecondsOf(server.pid) - cpu, databaseCpu: databaseCpu() };
    await processes.end(server);
    const counts = await countKept(engine);
    return {
      ...{ engine: engine.name, reporters, ...outcome, ...counts },
      perSecond: outcome.acknowledged / outcome.seconds,
      cpu: used.cpu / outcome.seconds,
      databaseCpu: used.databaseCpu / outcome.seconds,
      met:
        counts.kept === outcome.acknowledged &&
        counts.nodesKept === reporters &&
        outcome.seconds <= seconds + LATE,
    };
  });
}

/** Each node's first report changes its status, and the others do not, as most reports of a fleet. */
function reportOf(nodeId: string): string {
  const results = [{ result: { inDesiredState: true } }];
  const result = { hadErrors: false, results, messages: ['x'.repeat(RESULT_BYTES)] };
  const body = JSON.stringify({ operation: 'Test', result });
  const head = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  return `POST /api/v1/nodes/${nodeId}/reports HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}

type Kept = Pick<IntakeResult, 'kept' | 'nodesKept'>;

async function countKept(engine: Engine): Promise<Kept> {
  const database = await openDatabase(placeOf(engine));
  const { rows } = await sql<Kept>`select (select count(*) from reports) as kept,
    (select count(*) from nodes where status = 'Compliant') as "nodesKept"`.execute(database.read);
  await database.close();
  return rows[0] as Kept;
}

const placeOf = ({ folder, databaseUrl }: Engine): DatabasePlace => ({
  dataDir: join(folder, 'data'),
  databaseUrl,
});

export function formatCheckIns(results: readonly CheckInResult[]): string {
  const columns = ['check-ins', 'nodes', 'seconds', 'slowest', 'CPU s', 'database CPU s', 'at most', ''];
  const cells = results.map(({ engine, checkIns, seconds, slowest, cpu, databaseCpu, met }) => [
    ...[engine, String(checkIns)],
    ...[seconds, slowest, cpu, databaseCpu].map((value) => value.toFixed(2)),
    ...(engine === 'PostgreSQL' ? [`${CHECK_IN_TARGET} s`, verdict(met)] : ['-', '']),
  ]);
  return table([columns, ...cells]).join('\n');
}

export function formatIntake(results: readonly IntakeResult[]): string {
  const columns = [
    ...['reports', 'nodes', 'reports/s', 'seconds', 'p50 ms', 'p99 ms', 'longest ms'],
    ...['cores', 'database cores', 'answered', 'reports kept', 'states kept', ''],
  ];
  const cells = results.map((result) => [
    ...[result.engine, String(result.reporters), result.perSecond.toFixed(0), result.seconds.toFixed(1)],
    ...[result.p50, result.p99, result.longest].map((value) => value.toFixed(1)),
    ...[result.cpu, result.databaseCpu].map((value) => value.toFixed(2)),
    ...[String(result.acknowledged), String(result.kept), String(result.nodesKept), verdict(result.met)],
  ]);
  return table([columns, ...cells]).join('\n');
}
