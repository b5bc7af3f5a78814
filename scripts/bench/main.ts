/**
 * The bench: Hawser against a bare `node:https` handler, on a small and a large fleet, in one run.
 * `npm run bench [-- --quick] [-- --json FILE]`; docs/benchmarks.md says what the numbers mean.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fleet, makeFleet, makeIdentities, makeTemplate } from './fleet.ts';
import { type Contender, measure } from './measure.ts';
import { clientsOfBare, probe, visitAll } from './probe.ts';
import { type BareServer, type LoadGenerator, Processes, type ServerProcess } from './processes.ts';
import { formatReport, type Measured, makeReport } from './report.ts';
import { type Effort, FULL, QUICK, SCENARIOS, type Scenario, SMALL } from './scenarios.ts';

interface Stage {
  generator: LoadGenerator;
  bare: BareServer;
  hawsers: { fleet: Fleet; server: ServerProcess }[];
}

async function bench(folder: string, processes: Processes, effort: Effort): Promise<Measured[]> {
  const stage = await setUp(folder, processes, effort);
  const measured: Measured[] = [];
  for (const scenario of SCENARIOS) {
    progress(`measuring: ${scenario.label}`);
    measured.push(await measureScenario(stage, scenario, effort));
  }
  return measured;
}

async function setUp(folder: string, processes: Processes, effort: Effort): Promise<Stage> {
  progress('making the fleets');
  const template = await makeTemplate(join(folder, 'template'));
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
  const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
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
    const report = makeReport(new Date(), effort, await bench(folder, processes, effort));
    console.log(formatReport(report));
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await cleanUp();
  }
}

main().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
