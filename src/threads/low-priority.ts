/** The priority of threads whose work takes long and may wait. */

import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** Polls go first. */
const NICENESS = 10;

/** On Linux each thread has a priority of its own, and this link tells the id of the thread that reads it. */
export function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Other systems have no such link. There the thread runs like any other.
  }
}
