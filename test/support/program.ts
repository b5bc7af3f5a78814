/** How the tests start the programs of this project. */

import { execFileSync } from 'node:child_process';
import { PROJECT } from '../../scripts/support/project.ts';

/** Says to the processes that run tests that the programs have been built for all of them. */
const BUILT = 'TESTS_BUILT';

/** The files of the programs in the folder `PROJECT`. The clients are one file each, which may be copied anywhere. */
const FILES = {
  main: '.build/main.js',
  'agent/main': '.build/client/hawser-agent.mjs',
  hawserctl: '.build/client/hawserctl.mjs',
} as const;

/** Builds the programs from the sources as they are, once for all tests of a run. */
export function buildOnce(): void {
  if (process.env[BUILT] !== undefined) return;
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: PROJECT, stdio: 'inherit' });
  process.env[BUILT] = 'yes';
}

/** The arguments for node that start a program from the folder `PROJECT`, built from the sources as they are. */
export function programArguments(program: keyof typeof FILES): string[] {
  buildOnce();
  return [FILES[program]];
}
