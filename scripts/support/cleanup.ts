/** Ends programs and removes folders of a script when it ends, for whatever reason it ends. */

/**
 * Turns Ctrl-C and SIGTERM into an exit that runs the work of `atExit`. Use it only in a script's own process, not in
 * a test's.
 * @returns a function that takes this back
 */
export function exitOnSignals(): () => void {
  const exits = { SIGINT: () => process.exit(130), SIGTERM: () => process.exit(143) };
  for (const [signal, exit] of Object.entries(exits)) process.once(signal, exit);
  return () => {
    for (const [signal, exit] of Object.entries(exits)) process.off(signal, exit);
  };
}

/**
 * Runs the work when this process exits, unless the returned function has run it before. The work runs once. It must
 * be synchronous, because an exiting process waits for nothing.
 */
export function atExit(work: () => void): () => void {
  const once = (): void => {
    process.off('exit', once);
    work();
  };
  process.on('exit', once);
  return once;
}

/** Resolves at Ctrl-C or SIGTERM, which then do not end this process by themselves. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
