/** Suites that need a program of the system. If it is missing they are skipped, with the reason in their title. */

import { spawnSync } from 'node:child_process';

/** @param programs names on the search path */
export function describeWith(programs: readonly string[], title: string, suite: () => void): void {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (missing.length === 0) describe(title, suite);
  else describe.skip(`${title} (skipped: ${missing.join(' and ')} not installed)`, suite);
}
