/**
 * Runs the commands of the README and of the pages that continue it, and names the one that does not do what it says:
 * `node scripts/run.js scripts/run-readme.ts`. With names of pages (`docs/api-walk.md docs/tokens.md`) it runs only these, on one server.
 */

import { readPages, runPages, WALKS } from './readme/run.ts';
import { exitOnSignals } from './support/cleanup.ts';

exitOnSignals();
try {
  const names = process.argv.slice(2);
  let count = 0;
  for (const walk of names.length > 0 ? [names] : WALKS)
    count += await runPages(readPages(walk), ({ page, line, code }) =>
      console.log(`${page} line ${line}: ${code.split('\n', 1)[0]}`),
    );
  console.log(`${count} blocks do what they say`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
