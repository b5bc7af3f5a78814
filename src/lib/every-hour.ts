/** Work that is done in the background: once at the start, and then every hour. */

import { HOUR } from './clock.ts';

export interface HourlyWork {
  /** Tells the work to stop, and waits until it has. */
  close(): Promise<void>;
}

/**
 * Does the work now and every hour, one time after the other.
 * @param work begins nothing further once its signal is aborted
 * @param onFailure is told what the work throws. The work is done again an hour later.
 */
export function everyHour(
  work: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): HourlyWork {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const run = () => {
    running = running.then(() => work(stopping.signal)).catch(onFailure);
  };
  const timer = setInterval(run, HOUR).unref();
  run();
  return {
    async close() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
