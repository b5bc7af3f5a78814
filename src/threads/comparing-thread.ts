/** The module that each thread for comparisons begins with. It loads little, because its first caller waits for that. */

import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { serveTasks } from '../lib/threads.ts';
import { compareTasks } from '../resolve/compare-tasks.ts';

/** Polls go first. */
const NICENESS = 10;

/** On Linux each thread has a priority of its own, and this link tells the id of the thread that reads it. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Other systems have no such link. There the thread runs like any other.
  }
}

lowerPriority();
serveTasks(compareTasks);
