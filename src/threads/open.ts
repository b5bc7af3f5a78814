/** The threads of a process. */

import { Threads, threadEntry } from '../lib/threads.ts';
import type { ThreadTasks } from './tasks.ts';

/** The second one is for everybody else while a caller keeps the first one busy for a second. */
const THREADS = 2;

/** Enough for the document that takes most, some 300 MB. */
const HEAP_MEGABYTES = 512;

/** None runs before there is something to do. */
export function openThreads(): Threads<ThreadTasks> {
  const entry = threadEntry('./thread', import.meta.url);
  return new Threads<ThreadTasks>({ entry, size: THREADS, heapMegabytes: HEAP_MEGABYTES });
}
