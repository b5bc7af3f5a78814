/** Has a thread of its own watch whether the event loop of this process goes round. */

import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { SECOND } from '../lib/clock.ts';

export interface WatchdogData {
  /** The event loop adds to it each second. */
  beats: Int32Array;
  /** As `openOutput` takes it. */
  journalStream: string | null;
}

/** Starts it for as long as the process lives. A process that is debugged may stand still. */
export function startWatchdog(journalStream: string | null): void {
  if (inspectorUrl() !== undefined) return;
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData = { beats, journalStream } satisfies WatchdogData;
  new Worker(new URL('./watchdog-thread.js', import.meta.url), { name: 'watchdog', workerData }).unref();
  setInterval(() => Atomics.add(beats, 0, 1), SECOND).unref();
}
