/** The programs under test, each bundled as a single file for each of its threads, so that it starts four times as fast. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from '../../../scripts/support/project.ts';

/**
 * The folder belongs to this process alone. Its depth is such that the programs find package.json, whose version they
 * tell.
 */
const PROGRAMS = join(PROJECT, `.build/crash-${process.pid}`);

const REQUIRE = 'forBundle(import.meta.url)';

/** @param name that of a file of this folder, such as `server` */
export async function buildProgram(name: string): Promise<void> {
  await build({
    entryPoints: {
      [name]: join(PROJECT, `test/support/crash/${name}.ts`),
      thread: join(PROJECT, 'src/threads/thread.ts'),
      'fleet-thread': join(PROJECT, 'src/threads/fleet-thread.ts'),
    },
    outdir: PROGRAMS,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    external: ['better-sqlite3', 'pg', 'swagger-ui-dist'],
    // The CommonJS packages that are bundled need this.
    banner: { js: `import { createRequire as forBundle } from 'node:module'; const require = ${REQUIRE};` },
  });
}

export const fileOfProgram = (name: string) => join(PROGRAMS, `${name}.js`);

export function removePrograms(): void {
  rmSync(PROGRAMS, { recursive: true });
}
