/**
 * Runs tests: `npm test`, `npm run test:full`, and others of package.json.
 *
 * `node scripts/run.js scripts/test.ts everyday|rest|full|endurance` runs what the files declare (scripts/test/declarations.ts);
 * names of files in their place run these files. Options: `--engine sqlite|postgres` (only this one), `--grep TEXT`,
 * `--jobs N`.
 *
 * With TESTS_AGAIN=on, which .ci/run sets, a file that fails is run once more by itself. If it passes then, it counts as
 * unsteady: its name and its first failure are printed, and it does not make the run fail.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CALLS_FOLDER } from '../test/support/calls.ts';
import { writeToMemory } from '../test/support/memory-disk.ts';
import { buildOnce } from '../test/support/program.ts';
import { PROJECT } from './support/project.ts';
import { findUncalled } from './test/coverage.ts';
import { type Engine, type Selection, selectTests, type Tier } from './test/declarations.ts';
import { runMocha } from './test/mocha.ts';
import type { FileOutcome } from './test/reporter.ts';

const TIERS: readonly string[] = ['everyday', 'rest', 'full', 'endurance'] satisfies Tier[];
const ENGINES: Record<string, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' } satisfies Record<
  Engine,
  string
>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    grep: { type: 'string' },
    // Many tests wait for a clock, so that two processors have time for three.
    jobs: { type: 'string', default: '3' },
  },
});

/** @throws Error that says what is wrong with the arguments */
function selected(): Selection[] {
  const [first = 'everyday'] = positionals;
  if (values.engine !== undefined && ENGINES[values.engine] === undefined)
    throw new Error(`--engine is ${values.engine}, and must be sqlite or postgres`);
  if (TIERS.includes(first))
    return selectTests(first as Tier).filter(({ engine }) => (values.engine ?? engine) === engine);
  const absent = positionals.find((path) => !existsSync(join(PROJECT, path)));
  if (absent !== undefined)
    throw new Error(`there is no file ${absent}; name files, or one of ${TIERS.join(', ')}`);
  return [{ engine: (values.engine ?? 'sqlite') as Engine, paths: positionals }];
}

/** @returns whether all passed */
async function runAll(selections: readonly Selection[]): Promise<boolean> {
  const failed: { engine: Engine; outcome: FileOutcome }[] = [];
  for (const { engine, paths } of selections) {
    console.log(`\n${paths.length} files of tests on ${ENGINES[engine]}`);
    const outcomes = await run(engine, paths, paths.length === 1 ? 1 : Number(values.jobs));
    for (const outcome of outcomes) if (outcome.failures.length > 0) failed.push({ engine, outcome });
  }
  if (process.env['TESTS_AGAIN'] !== 'on') return failed.length === 0;
  let hasPassed = true;
  for (const { engine, outcome } of failed) {
    // A process of its own would load everything anew; here it is alone too.
    const again = await run(engine, [outcome.path], 2);
    const isUnsteady = again.every(({ failures }) => failures.length === 0);
    if (isUnsteady) console.log(`unsteady: ${outcome.path} on ${ENGINES[engine]}\n${outcome.failures[0]}`);
    hasPassed &&= isUnsteady;
  }
  return hasPassed;
}

/** Runs the tests of every day, which must call every route and every command. @returns whether all passed and they did */
async function runEveryday(selections: readonly Selection[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-calls-'));
  process.env[CALLS_FOLDER] = folder;
  try {
    const hasPassed = await runAll(selections);
    const uncalled = findUncalled(folder);
    for (const sentence of uncalled) console.log(sentence);
    return hasPassed && uncalled.length === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(engine: Engine, paths: readonly string[], jobs: number): Promise<FileOutcome[]> {
  return runMocha({ engine, paths, jobs, ...(values.grep !== undefined && { grep: values.grep }) });
}

let removeMemory = (): void => undefined;
try {
  const selections = selected();
  buildOnce();
  // Tests of endurance are about what a disk keeps, too.
  const isEndurance = selections.some(({ paths }) =>
    paths.some((path) => path.startsWith('test/endurance/')),
  );
  if (!isEndurance) removeMemory = writeToMemory();
  const isEveryday = positionals.length === 0 || positionals[0] === 'everyday';
  process.exitCode = (await (isEveryday ? runEveryday : runAll)(selections)) ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
} finally {
  removeMemory();
}
// A server that a failed hook has left running must not keep this process.
process.exit();
