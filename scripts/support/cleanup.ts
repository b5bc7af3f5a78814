/** Ends programs and removes folders of a script, whichever way it ends. */

/** For the script's own process, not for a test's: Ctrl-C and SIGTERM become an exit, with what `atExit` has noted. */
export function exitOnSignals(): void {
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
}

/**
 * Has the work done when this process exits, unless it is called before; it is done once. It must not wait for
 * anything, because nothing waits for it then.
 */
export function atExit(work: () => void): () => void {
  const once = (): void => {
    process.off('exit', once);
    work();
  };
  process.on('exit', once);
  return once;
}
