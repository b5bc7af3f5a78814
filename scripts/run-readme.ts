/**
 * Runs the README's commands and names the one that does not do what it says:
 * `node --import tsx scripts/run-readme.ts`.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, runReadme } from './readme/run.ts';
import { exitOnSignals } from './support/cleanup.ts';

exitOnSignals();
try {
  const markdown = readFileSync(join(PROJECT, 'README.md'), 'utf8');
  const count = await runReadme(markdown, ({ line, code }) =>
    console.log(`line ${line}: ${code.split('\n', 1)[0]}`),
  );
  console.log(`README: ${count} blocks do what they say`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
