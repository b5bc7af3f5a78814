/**
 * Lets the everyday tests write to memory instead of a disk, which does not have to be waited for. They test what the
 * server does, and not what a disk keeps; the endurance tests use a real one. Mocha requires this file before the tests.
 */

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
/** The tests need a few hundred megabytes at once. Containers often have only 64. */
const NEEDED = 2 * 1024 ** 3;

/** Names the folder to the processes of mocha that run the tests, each of which reads this file too. */
const SHARED = 'TESTS_MEMORY_FOLDER';

let own: string | undefined;

if (process.env['TMPDIR'] === undefined && process.env[SHARED] === undefined && freeBytes() >= NEEDED) {
  own = mkdtempSync(`${MEMORY}/hawser-tests-`);
  process.env[SHARED] = own;
}
if (process.env[SHARED] !== undefined) process.env['TMPDIR'] = process.env[SHARED];
// Traces of errors name the lines of the sources.
process.setSourceMapsEnabled(true);

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Mocha calls this once, after all tests. */
export function mochaGlobalTeardown(): void {
  if (own !== undefined) rmSync(own, { recursive: true, force: true });
}
