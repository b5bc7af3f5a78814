/**
 * Ends the process when its event loop stands: it answers nothing then, and cannot end by itself. The thread counts its own
 * ticks, so a process that was stopped and goes on, such as that of a machine that slept, is not ended.
 */

import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { SECOND } from '../lib/clock.ts';
import { createLog, openOutput } from '../lib/log.ts';
import type { WatchdogData } from './watchdog.ts';

/** A process whose loop has stood for so many seconds ends. */
const PATIENCE = 15;
/** The code with which it ends: an internal fault of the software (sysexits.h). */
const EXIT_SOFTWARE = 70;
/** Seconds after which a process that cannot even be interrupted is killed. */
const GRACE = 5;

const { beats, journalStream } = workerData as WatchdogData;
let known = -1;
let ticks = 0;

function look(): void {
  const now = Atomics.load(beats, 0);
  ticks = now === known ? ticks + 1 : 0;
  known = now;
  if (ticks === PATIENCE) end();
  else if (ticks === PATIENCE + GRACE) process.kill(process.pid, 'SIGKILL');
}

function end(): void {
  const log = createLog('error', openOutput(journalStream));
  log.error({ seconds: PATIENCE }, 'the event loop stands; the process ends, so that it is started again');
  // A thread cannot end the process by itself. The main thread can be interrupted, whatever it computes.
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: `process.reallyExit(${EXIT_SOFTWARE})` });
}

setInterval(look, SECOND);
