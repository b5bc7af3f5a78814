/** How the tests start the programs of this project. */

import { execFileSync } from 'node:child_process';
import { PROJECT } from '../../scripts/support/project.ts';

let isBuilt = false;

/** The files of the programs in the folder `PROJECT`. The clients are one file each, which may be copied anywhere. */
const FILES = {
  main: '.build/main.js',
  'agent/main': '.build/client/hawser-agent.mjs',
  hawserctl: '.build/client/hawserctl.mjs',
} as const;

/** Builds the programs from the sources as they are, once for all tests of a process. */
export function buildOnce(): void {
  if (!isBuilt) execFileSync(process.execPath, ['scripts/build.js'], { cwd: PROJECT });
  isBuilt = true;
}

/** The arguments for node that start a program from the folder `PROJECT`, built from the sources as they are. */
export function programArguments(program: keyof typeof FILES): string[] {
  buildOnce();
  return [FILES[program]];
}
