/** Work that is done in the background: once at the start, and then again and again. */

export interface RepeatedWork {
  /** Tells the work to stop, and waits until it has. */
  close(): Promise<void>;
}

/**
 * Does the work now and after each interval, one time after the other.
 * @param interval in milliseconds
 * @param work begins nothing further once its signal is aborted
 * @param onFailure is told what the work throws. The work is done again after the next interval.
 */
export function repeat(
  interval: number,
  work: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): RepeatedWork {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const run = () => {
    running = running.then(() => work(stopping.signal)).catch(onFailure);
  };
  const timer = setInterval(run, interval).unref();
  run();
  return {
    async close() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
