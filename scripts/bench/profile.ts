/**
 * Shows where a poll's CPU time goes. `npm run bench` measures; this explains. It runs keep-alive polls against a
 * Hawser with `--cpu-prof` and prints microseconds per request by function. The profiler itself adds to them.
 * `node scripts/run.js scripts/bench/profile.ts [--scenario 0] [--keep FILE]`
 */

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CpuProfile, readCosts } from './cpu-profile.ts';
import { makeFleet, makeIdentities, makeTemplate } from './fleet.ts';
import { probe, visitAll } from './probe.ts';
import { Processes } from './processes.ts';
import { FULL, SCENARIOS, SMALL } from './scenarios.ts';

const WARM_UP_ROUNDS = 4;
const ROUNDS = 8;
const SHOWN = 45;

interface Window {
  from: number;
  to: number;
  requests: number;
}

/** @returns which part of the profile is the steady state */
async function record(folder: string, processes: Processes, scenarioAt: number): Promise<Window> {
  const scenario = SCENARIOS[scenarioAt];
  if (scenario === undefined) throw new Error(`there are scenarios 0 to ${SCENARIOS.length - 1}`);
  const template = await makeTemplate(join(folder, 'template'));
  const fleet = await makeFleet(folder, template, SMALL, await makeIdentities(FULL.connections));
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${join(folder, 'profile')}`, '--cpu-prof-interval=100'];
  const { endpoint } = await processes.startHawser(folder, { nodeOptions });
  await visitAll(endpoint, fleet);
  const { clients } = await probe(endpoint, fleet, scenario);
  const generator = processes.startGenerator();
  const { newConnections, requests } = scenario;
  const round = () => generator.run({ endpoint, clients, newConnections, requests });
  for (let at = 0; at < WARM_UP_ROUNDS; at += 1) await round();
  const from = microseconds();
  for (let at = 0; at < ROUNDS; at += 1) await round();
  return { from, to: microseconds(), requests: ROUNDS * requests };
}

/** The time of the clock with which V8 stamps its samples. */
function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function print(profile: CpuProfile, window: Window): void {
  const costs = readCosts(profile, window);
  const idle = costs.find(({ name }) => name === '(idle)')?.self ?? 0;
  const all = costs.reduce((sum, { self }) => sum + self, 0) - idle;
  console.log(`${all.toFixed(1)} us per request on the main thread; self, with callees, function`);
  for (const { name, self, total } of costs.slice(0, SHOWN)) {
    console.log(`${self.toFixed(2).padStart(7)} ${total.toFixed(2).padStart(7)}  ${name}`);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { scenario: { type: 'string' }, keep: { type: 'string' } } });
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-'));
  for (const name of ['template', 'profile']) mkdirSync(join(folder, name));
  const processes = new Processes();
  try {
    const window = await record(folder, processes, Number(values.scenario ?? 0));
    // The profile is written when the process ends.
    await processes.close();
    const file = join(folder, 'profile', readdirSync(join(folder, 'profile'))[0] ?? '');
    if (values.keep !== undefined) copyFileSync(file, values.keep);
    print(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, window);
  } finally {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error: Error) => {
  console.error(`profile: ${error.message}`);
  process.exitCode = 1;
});
