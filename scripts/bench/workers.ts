/**
 * Measures what a second worker adds: polls of one process compared with those of two, on servers with the same
 * content. The generator needs one of the two cores. So the CPU time tells how many polls the servers could answer if
 * they had both cores. Bare servers, one with one process and one with two, show what the machine itself allows.
 */

import { join } from 'node:path';
import { childrenOf, cpuSecondsOf } from './cpu.ts';
import { type Fleet, makeFleet, makeIdentities } from './fleet.ts';
import { median, middleHalf } from './measure.ts';
import type { LoadClient } from './messages.ts';
import { clientsOfBare, probe, visitAll } from './probe.ts';
import type { BareServer, LoadGenerator, Processes, ServerProcess } from './processes.ts';
import { formatRange, table, verdict } from './report.ts';
import { inTurn, type Side } from './scale.ts';
import { type Effort, SCENARIOS, type Scenario, SMALL } from './scenarios.ts';

/** The least number of polls that two workers must answer, as a multiple of one worker's. */
const WORKERS_TARGET = 1.7;
const WORKERS = 2;
const COMPARED = SCENARIOS.filter(({ resource }) => resource === 'checksum');

interface Contender {
  fleet: Fleet;
  hawser: Answering;
  bare: Answering & { server: BareServer };
}

interface Answering {
  server: ServerProcess;
  /** The processes that answer: the server itself, or its workers. */
  answering: number[];
}

/** One round with one server. */
interface Sample {
  /** Polls per second as the generator measured them; it has one of the cores to itself. */
  seen: number;
  /**
   * Polls per second if each process that answers had a core to itself: polls per CPU second of all processes, times
   * their number.
   */
  possible: number;
  /** CPU microseconds per poll: of all processes that answer, and of the process that distributes connections. */
  cpu: number;
  handing: number;
  /**
   * The busiest process's share of the CPU time of all that answer. A process that gets the CPU sooner gets more
   * polls.
   */
  busiest: number;
}

interface WorkersRow {
  scenario: string;
  /** True for bare servers, which have no target. */
  isBare: boolean;
  one: Sample;
  two: Sample;
  /** The median of the ratios of the rounds of what is possible, and the middle half of these ratios. */
  ratio: number;
  ratioRange: [lower: number, upper: number];
  met: boolean | null;
}

export type WorkersResults = WorkersRow[];

/** @param progress is called with what begins */
export async function measureWorkers(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<WorkersResults> {
  const one = await startContender(join(folder, 'one-worker'), template, processes, effort, 1);
  const two = await startContender(join(folder, 'two-workers'), template, processes, effort, WORKERS);
  const generator = processes.startGenerator();
  const rows: WorkersRow[] = [];
  for (const scenario of COMPARED) {
    progress(`measuring: ${scenario.label}, with one worker and with ${WORKERS}`);
    rows.push(...(await compareOn(scenario, { few: one, many: two }, generator, effort)));
  }
  return rows;
}

async function startContender(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  workers: number,
): Promise<Contender> {
  // Each worker has as many connections as a single one, because the number of waiting requests decides how many are
  // answered in one turn.
  const identities = await makeIdentities(effort.connections * workers);
  const fleet = await makeFleet(folder, template, SMALL, identities);
  const server = await processes.startHawser(folder, { settings: { HAWSER_WORKERS: String(workers) } });
  // This is so often that every worker has answered for every configuration.
  for (let time = 0; time < 2 * workers; time += 1) await visitAll(server.endpoint, fleet);
  const bare = await processes.startBare(folder, workers);
  return {
    fleet,
    hawser: { server, answering: answeringOf(server, workers) },
    bare: { server: bare, answering: answeringOf(bare, workers) },
  };
}

function answeringOf({ pid }: ServerProcess, workers: number): number[] {
  if (workers === 1) return [pid];
  const children = childrenOf(pid);
  if (children.length !== workers) throw new Error(`expected ${workers} workers, found ${children.length}`);
  return children;
}

/** @returns a row of Hawser, and one of the bare servers that take turns with it */
async function compareOn(
  scenario: Scenario,
  contenders: Record<Side, Contender>,
  generator: LoadGenerator,
  effort: Effort,
): Promise<WorkersRow[]> {
  const sides = {
    few: await prepare(contenders.few, scenario),
    many: await prepare(contenders.many, scenario),
  };
  const samples = { hawser: noSamples(), bare: noSamples() };
  await inTurn(effort.polls, async (side, counts) => {
    for (const { who, answering, clients } of sides[side]) {
      const sample = await takeSample(generator, scenario, answering, clients, effort);
      if (counts) samples[who][side].push(sample);
    }
  });
  return [
    { ...rowOf(scenario.label, samples.hawser), isBare: false },
    { ...rowOf(`${scenario.label}, bare`, samples.bare), isBare: true, met: null },
  ];
}

const noSamples = (): Record<Side, Sample[]> => ({ few: [], many: [] });

/** The servers that are asked in turn. */
async function prepare({ fleet, hawser, bare }: Contender, scenario: Scenario) {
  const probed = await probe(hawser.server.endpoint, fleet, scenario);
  await bare.server.answerWith(probed.answer);
  return [
    { who: 'bare' as const, answering: bare, clients: clientsOfBare(probed) },
    { who: 'hawser' as const, answering: hawser, clients: probed.clients },
  ];
}

function rowOf(scenario: string, { few, many }: Record<Side, readonly Sample[]>): Omit<WorkersRow, 'isBare'> {
  const ratios = many.map(({ possible }, round) => possible / (few[round]?.possible ?? Number.NaN));
  return {
    ...{ scenario, one: middle(few), two: middle(many) },
    ...{ ratio: median(ratios), ratioRange: middleHalf(ratios), met: median(ratios) >= WORKERS_TARGET },
  };
}

async function takeSample(
  generator: LoadGenerator,
  scenario: Scenario,
  { server, answering }: Answering,
  clients: readonly LoadClient[],
  effort: Effort,
): Promise<Sample> {
  const requests = Math.ceil(scenario.requests * effort.share);
  const { newConnections } = scenario;
  const pids = [server.pid, ...answering.filter((pid) => pid !== server.pid)];
  const before = pids.map(cpuSecondsOf);
  const { seconds } = await generator.run({ endpoint: server.endpoint, clients, newConnections, requests });
  const used = new Map(pids.map((pid, at) => [pid, cpuSecondsOf(pid) - (before[at] ?? Number.NaN)]));
  const ofAnswering = answering.map((pid) => used.get(pid) ?? Number.NaN);
  const all = sumOf([...used.values()]);
  return {
    ...{ seen: requests / seconds, possible: (answering.length * requests) / all },
    cpu: (sumOf(ofAnswering) * 1e6) / requests,
    handing: ((all - sumOf(ofAnswering)) * 1e6) / requests,
    busiest: Math.max(...ofAnswering) / sumOf(ofAnswering),
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function middle(samples: readonly Sample[]): Sample {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  return {
    seen: of(({ seen }) => seen),
    possible: of(({ possible }) => possible),
    cpu: of(({ cpu }) => cpu),
    handing: of(({ handing }) => handing),
    busiest: of(({ busiest }) => busiest),
  };
}

const COLUMNS = [
  ...['workers', 'n', 'polls/s seen', 'CPU us', 'handing out', 'busiest', 'possible/s'],
  ...['ratio', 'half within', 'target', ''],
];

export function formatWorkers(rows: WorkersResults): string {
  const cells = rows.flatMap(({ scenario, one, two, ratio, ratioRange, met }) => [
    [scenario, '1', ...formatSample(one), '', '', '', ''],
    ['', String(WORKERS), ...formatSample(two), `${ratio.toFixed(2)} x`, formatRange(ratioRange)].concat(
      met === null ? ['-', ''] : [`${WORKERS_TARGET.toFixed(2)} x`, verdict(met)],
    ),
  ]);
  return table([COLUMNS, ...cells]).join('\n');
}

function formatSample({ seen, possible, cpu, handing, busiest }: Sample): string[] {
  const numbers = [seen.toFixed(0), cpu.toFixed(1), handing.toFixed(1)];
  return [...numbers, `${(busiest * 100).toFixed(0)} %`, possible.toFixed(0)];
}
