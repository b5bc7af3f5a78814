/** Where the files lie that the build has made beside the program, for those that a server hands out. */

import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Gives the folder of the build that runs. A server of the tests runs from files that were transpiled one by one
 * (scripts/transpile.js), so it takes the newest build, which may be missing.
 */
export async function buildFolder(): Promise<string> {
  const here = import.meta.dirname;
  const builds = join(here, '../../..');
  if (basename(builds) !== '.build' || basename(dirname(here)) !== 'src') return here;
  const program = await readFile(join(builds, 'main.js'), 'utf8').catch(() => '');
  return join(builds, /'\.\/([0-9a-f]{16})\/main\.js'/.exec(program)?.[1] ?? '');
}
