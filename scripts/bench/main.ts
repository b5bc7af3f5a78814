/**
 * The bench compares Hawser with a bare `node:https` handler, on a small and a large fleet, in one run:
 * `npm run bench [-- --quick] [-- --only PART] [-- --rows NAME,...] [-- --server FILE] [-- --json FILE]`.
 * docs/benchmark-method.md explains the parts and the numbers.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ATTACKS } from './attacks/rows.ts';
import { formatAttacks, measureAttacks } from './attacks.ts';
import { formatCapacity, measureCapacity } from './capacity.ts';
import { formatChangeSets, measureChangeSets } from './change-sets.ts';
import { formatConsole, measureConsole } from './console.ts';
import { makeFleet, makeIdentities, makeTemplate } from './fleet.ts';
import { formatImport, measureImport } from './importing.ts';
import { formatManyFiles, measureManyFiles } from './many-files.ts';
import { type Contender, measure } from './measure.ts';
import { formatParameters, measureParameters } from './parameters.ts';
import { formatPostgres, measurePostgres } from './postgres.ts';
import { formatPreviews, measurePreviews } from './previews.ts';
import { clientsOfBare, probe, visitAll } from './probe.ts';
import { type BareServer, type LoadGenerator, Processes } from './processes.ts';
import { formatPublishing, measurePublishing } from './publishing.ts';
import { formatPushing, measurePushing } from './pushing.ts';
import { formatRecords, measureRecords } from './records.ts';
import { formatMachine, formatReport, type Measured, makeReport } from './report.ts';
import { formatReviewing, measureReviewing } from './reviewing.ts';
import { formatRollouts, measureRollouts } from './rollouts.ts';
import { formatScale, type ScaleRow } from './scale.ts';
import { type Effort, FULL, QUICK, SCENARIOS, type Scenario, SMALL } from './scenarios.ts';
import { formatSecrets, measureSecrets } from './secrets.ts';
import { formatServers, measureServers } from './servers.ts';
import { formatStart, measureStart } from './start.ts';
import { type Hosted, measureLists, measureVersions } from './versions.ts';

interface Stage {
  generator: LoadGenerator;
  bare: BareServer;
  hawsers: Hosted[];
}

type Measure<T> = (
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
) => Promise<T>;

/** The result of a part that has servers of its own, as a value and as a table for people. */
interface PartResult {
  value: unknown;
  text: string;
}

interface Results {
  measured: Measured[];
  scale: ScaleRow[];
  parts: Map<string, PartResult>;
}

/** The parts that have servers of their own. */
const OWN_PARTS = new Map<string, Measure<PartResult>>([
  ['parameters', part(measureParameters, formatParameters)],
  ['records', part(measureRecords, formatRecords)],
  ['start', part(measureStart, formatStart)],
  ['publish', part(measurePublishing, formatPublishing)],
  ['push', part(measurePushing, formatPushing)],
  ['many-files', part(measureManyFiles, formatManyFiles)],
  ['review', part(measureReviewing, formatReviewing)],
  ['previews', part(measurePreviews, formatPreviews)],
  ['change-sets', part(measureChangeSets, formatChangeSets)],
  ['secrets', part(measureSecrets, formatSecrets)],
  ['rollouts', part(measureRollouts, formatRollouts)],
  ['console', part(measureConsole, formatConsole)],
  ['postgres', part(measurePostgres, formatPostgres)],
  ['servers', part(measureServers, formatServers)],
  ['import', part(measureImport, formatImport)],
  ['capacity', part(measureCapacity, formatCapacity)],
  ['attacks', part(measureAttacks, formatAttacks)],
]);
const PARTS = ['polls', 'versions', ...OWN_PARTS.keys()];

function part<T>(measure: Measure<T>, format: (results: T) => string): Measure<PartResult> {
  return async (...stage) => {
    const value = await measure(...stage);
    return { value, text: format(value) };
  };
}

/** @param parts names of PARTS */
async function bench(
  folder: string,
  processes: Processes,
  effort: Effort,
  parts: readonly string[],
): Promise<Results> {
  const template = await makeTemplate(join(folder, 'template'));
  const results: Results = { measured: [], scale: [], parts: new Map() };
  if (parts.includes('polls') || parts.includes('versions')) {
    const stage = await setUp(folder, template, processes, effort);
    if (parts.includes('polls')) results.measured = await measurePolls(stage, effort);
    if (parts.includes('versions')) {
      progress('measuring: many versions');
      const lists = await measureLists(stage.hawsers, effort);
      results.scale = [...lists, await measureVersions(folder, template, processes, effort)];
    }
  }
  for (const [name, measurePart] of OWN_PARTS) {
    if (!parts.includes(name)) continue;
    const result = await measurePart(folder, template, processes, effort, progress);
    // A fault in a later part must not take what took many minutes.
    process.stderr.write(`${result.text}\n`);
    results.parts.set(name, result);
  }
  return results;
}

async function measurePolls(stage: Stage, effort: Effort): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const scenario of SCENARIOS) {
    progress(`measuring: ${scenario.label}`);
    measured.push(await measureScenario(stage, scenario, effort));
  }
  return measured;
}

async function setUp(folder: string, template: string, processes: Processes, effort: Effort): Promise<Stage> {
  progress('making the fleets');
  const identities = await makeIdentities(effort.connections);
  const hawsers = [];
  for (const [name, size] of [['small', SMALL] as const, ['large', effort.large] as const]) {
    const fleet = await makeFleet(join(folder, name), template, size, identities);
    hawsers.push({ fleet, server: await processes.startHawser(fleet.folder) });
  }
  progress('visiting every configuration once');
  for (const { fleet, server } of hawsers) await visitAll(server.endpoint, fleet);
  const bare = await processes.startBare(join(folder, 'small'));
  return { generator: processes.startGenerator(), bare, hawsers };
}

async function measureScenario(stage: Stage, scenario: Scenario, effort: Effort): Promise<Measured> {
  const { generator, bare, hawsers } = stage;
  const contenders: Contender[] = [];
  for (const { fleet, server } of hawsers) {
    const probed = await probe(server.endpoint, fleet, scenario);
    if (contenders.length === 0) {
      await bare.answerWith(probed.answer);
      contenders.push({ server: bare, clients: clientsOfBare(probed) });
    }
    contenders.push({ server, clients: probed.clients });
  }
  const [bareSamples = [], ...samples] = await measure(generator, scenario, contenders, effort);
  const fleets = hawsers.map(({ fleet }, at) => ({ size: fleet.size, samples: samples[at] ?? [] }));
  return { scenario, bare: bareSamples, fleets };
}

/** Progress goes to stderr, so that stdout contains only the results. */
function progress(message: string): void {
  process.stderr.write(`bench: ${message}\n`);
}

function readOptions() {
  const text = { type: 'string' } as const;
  const options = { quick: { type: 'boolean' }, only: text, rows: text, server: text, json: text } as const;
  const { values } = parseArgs({ options });
  if (values.only !== undefined && !PARTS.includes(values.only))
    throw new Error(`--only takes one of ${PARTS.join(', ')}`);
  const names = ATTACKS.map(({ name }) => name);
  const rows = values.rows?.split(',') ?? names;
  if (!rows.every((row) => names.includes(row))) throw new Error(`--rows takes of ${names.join(', ')}`);
  return { ...values, rows };
}

function effortOf({ quick = false, rows }: { quick?: boolean | undefined; rows: string[] }): Effort {
  const effort = quick ? QUICK : FULL;
  return { ...effort, attacks: { ...effort.attacks, rows: (name) => rows.includes(name) } };
}

async function main(): Promise<void> {
  const { quick, only, rows, server, json } = readOptions();
  if (process.platform !== 'linux')
    throw new Error('the bench reads CPU times from /proc, so it needs Linux');
  const effort = effortOf({ quick, rows });
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-'));
  for (const name of ['template', 'small', 'large']) mkdirSync(join(folder, name));
  const processes = new Processes(server && resolve(server));
  const cleanUp = async () => {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp().then(() => process.exit(1)));
  }
  try {
    const parts = only === undefined ? PARTS : [only];
    const { measured, scale, parts: own } = await bench(folder, processes, effort, parts);
    const values = Object.fromEntries([...own].map(([name, { value }]) => [name, value]));
    const report = { ...makeReport(new Date(), effort, measured), scale, ...values };
    console.log(measured.length > 0 ? formatReport(report) : formatMachine(report.machine));
    if (scale.length > 0) console.log(`\n${formatScale('many versions', scale)}`);
    for (const { text } of own.values()) console.log(`\n${text}`);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await cleanUp();
  }
}

main().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  // The process must be ended, because a server in it that counts flushes may still run.
  process.exit(1);
});
