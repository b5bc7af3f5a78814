/** Where the files lie that the build has made beside the program, for those that a server hands out. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Gives the folder of the build that runs. A server that runs from the sources takes that of the newest build, which may
 * be older than the sources or missing.
 */
export async function buildFolder(): Promise<string> {
  const here = import.meta.dirname;
  if (!import.meta.url.endsWith('.ts')) return here;
  const builds = join(here, '../../.build');
  const program = await readFile(join(builds, 'main.js'), 'utf8').catch(() => '');
  return join(builds, /'\.\/([0-9a-f]{16})\/main\.js'/.exec(program)?.[1] ?? '');
}
