/**
 * The bench: Hawser against a bare `node:https` handler, on a small and a large fleet, in one run.
 * `npm run bench [-- --quick] [-- --only polls|versions|parameters|records] [-- --json FILE]`; docs/benchmarks.md says what the numbers mean.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeFleet, makeIdentities, makeTemplate } from './fleet.ts';
import { type Contender, measure } from './measure.ts';
import { formatParameters, measureParameters, type ParameterResults } from './parameters.ts';
import { clientsOfBare, probe, visitAll } from './probe.ts';
import { type BareServer, type LoadGenerator, Processes } from './processes.ts';
import { formatRecords, measureRecords, type RecordResults } from './records.ts';
import { formatMachine, formatReport, type Measured, makeReport } from './report.ts';
import { formatScale, type ScaleRow } from './scale.ts';
import { type Effort, FULL, QUICK, SCENARIOS, type Scenario, SMALL } from './scenarios.ts';
import { type Hosted, measureLists, measureVersions } from './versions.ts';

interface Stage {
  generator: LoadGenerator;
  bare: BareServer;
  hawsers: Hosted[];
}

interface Results {
  measured: Measured[];
  scale: ScaleRow[];
  /** Null where they were not measured. */
  parameters: ParameterResults | null;
  records: RecordResults | null;
}

const PARTS = ['polls', 'versions', 'parameters', 'records'];

/** @param parts of PARTS */
async function bench(
  folder: string,
  processes: Processes,
  effort: Effort,
  parts: readonly string[],
): Promise<Results> {
  const template = await makeTemplate(join(folder, 'template'));
  const results: Results = { measured: [], scale: [], parameters: null, records: null };
  if (parts.includes('polls') || parts.includes('versions')) {
    const stage = await setUp(folder, template, processes, effort);
    if (parts.includes('polls')) results.measured = await measurePolls(stage, effort);
    if (parts.includes('versions')) {
      progress('measuring: many versions');
      const lists = await measureLists(stage.hawsers, effort);
      results.scale = [...lists, ...(await measureVersions(folder, template, processes, effort))];
    }
  }
  if (parts.includes('parameters'))
    results.parameters = await measureParameters(folder, template, processes, effort, progress);
  if (parts.includes('records'))
    results.records = await measureRecords(folder, template, processes, effort, progress);
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

/** On stderr, so that stdout holds the results alone. */
function progress(message: string): void {
  process.stderr.write(`bench: ${message}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
  });
  if (values.only !== undefined && !PARTS.includes(values.only))
    throw new Error(`--only takes one of ${PARTS.join(', ')}`);
  if (process.platform !== 'linux')
    throw new Error('the bench reads CPU times from /proc, so it needs Linux');
  const effort = values.quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-'));
  for (const name of ['template', 'small', 'large']) mkdirSync(join(folder, name));
  const processes = new Processes();
  const cleanUp = async () => {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanUp().then(() => process.exit(1)));
  }
  try {
    const parts = values.only === undefined ? PARTS : [values.only];
    const { measured, scale, parameters, records } = await bench(folder, processes, effort, parts);
    const report = { ...makeReport(new Date(), effort, measured), scale, parameters, records };
    console.log(measured.length > 0 ? formatReport(report) : formatMachine(report.machine));
    if (scale.length > 0) console.log(`\n${formatScale('many versions', scale)}`);
    if (parameters) console.log(`\n${formatParameters(parameters)}`);
    if (records) console.log(`\n${formatRecords(records)}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await cleanUp();
  }
}

main().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
