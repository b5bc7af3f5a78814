/** Runs files of tests with mocha, on one engine of the database. */

import '../../test/support/cheap-hashes.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Mocha from 'mocha';
import { CPU_TIMES } from '../../test/support/cpu-times.ts';
import type { Engine } from './declarations.ts';
import { type FileOutcome, FileReporter } from './reporter.ts';

export interface MochaRequest {
  engine: Engine;
  /** Paths in the project. */
  paths: readonly string[];
  /** How many processes run tests at once; 1 runs them one after the other in this process. */
  jobs: number;
  /** Only tests whose whole title contains this are run. */
  grep?: string;
}

/** In milliseconds, for one test. The machine may do much else meanwhile. */
const TIMEOUT = 180_000;

/** The folder of the transpiled files, of which this is one. */
const FOLDER = join(import.meta.dirname, '../..');

/** @returns what became of each file, also of those that could not be loaded */
export async function runMocha({ engine, paths, jobs, grep }: MochaRequest): Promise<FileOutcome[]> {
  const outcomes = new Map<string, FileOutcome>();
  process.env['HAWSER_TEST_ENGINE'] = engine;
  const times = mkdtempSync(join(tmpdir(), 'hawser-times-'));
  process.env[CPU_TIMES] = join(times, 'times');
  const mocha = new Mocha({
    ...{ timeout: TIMEOUT, parallel: jobs > 1, jobs, color: process.stdout.isTTY },
    ...(grep !== undefined && { fgrep: grep }),
    require: ['cheap-hashes', 'memory-disk', 'calls', 'cpu-times'].map((name) =>
      join(FOLDER, `test/support/${name}.js`),
    ),
    reporter: FileReporter as unknown as Mocha.ReporterConstructor,
    reporterOptions: { folder: FOLDER, outcomes },
  });
  for (const path of paths) mocha.addFile(join(FOLDER, path.replace(/\.ts$/, '.js')));
  await mocha.loadFilesAsync();
  await new Promise((resolve) => mocha.run(resolve));
  rmSync(times, { recursive: true });
  return [...outcomes.values()];
}
