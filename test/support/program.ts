/** How the tests start the programs of this project. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '../..');

let isBuilt = false;

/** The arguments for node that start a program from the folder `PROJECT`, built from the sources as they are. */
export function programArguments(program: 'main' | 'agent/main'): string[] {
  if (!isBuilt) execFileSync(process.execPath, ['scripts/build.js'], { cwd: PROJECT });
  isBuilt = true;
  return [`.build/${program}.js`];
}
