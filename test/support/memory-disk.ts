/**
 * Lets the tests write to memory instead of a disk, which does not have to be waited for. They test what the server does,
 * and not what a disk keeps; the endurance tests use a real one. The runner of tests makes the folder, and each process
 * that runs tests loads this file first.
 */

import { mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
/** The tests need a few hundred megabytes at once. Containers often have only 64. */
const NEEDED = 2 * 1024 ** 3;

/** Names the folder to the processes that run the tests. */
const SHARED = 'TESTS_MEMORY_FOLDER';

useFolder();
// Traces of errors name the lines of the sources.
process.setSourceMapsEnabled(true);

/**
 * Has this process and those that it starts write to memory, unless TMPDIR is set or there is too little of it.
 * @returns a function that removes what was written
 */
export function writeToMemory(): () => void {
  if (process.env['TMPDIR'] !== undefined || freeBytes() < NEEDED) return () => undefined;
  const folder = mkdtempSync(`${MEMORY}/hawser-tests-`);
  process.env[SHARED] = folder;
  useFolder();
  return () => rmSync(folder, { recursive: true, force: true });
}

function useFolder(): void {
  if (process.env[SHARED] !== undefined) process.env['TMPDIR'] = process.env[SHARED];
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
