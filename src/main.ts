/** The process: settings from the environment, signals, exit codes. */

import { ConfigError, EXIT_CONFIG, readConfig } from './config.ts';
import { SECOND, systemClock } from './lib/clock.ts';
import { HawserError } from './lib/errors.ts';
import { createLog, type Log } from './lib/log.ts';
import { type RunningServer, startServer } from './server.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const server = await startServer({ config, clock: systemClock, log, showFirstPassword });
  process.on('SIGHUP', () => void server.reloadTls());
  closeOnSignals(server, log);
  // Last: who waits for this line may signal at once.
  log.info({ url: server.url, dataDir: config.dataDir, reposDir: config.reposDir }, 'listening');
}

/** Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. That is one wish, not two. */
const SAME_WISH = 1 * SECOND;

/** The first signal closes in order; a later one, from somebody who will not wait, ends at once. */
function closeOnSignals(server: RunningServer, log: Log): void {
  let closingSince: number | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (closingSince === null) {
      closingSince = now;
      log.info({ signal }, 'closing');
      closeAndExit(server).catch(fail);
    } else if (now - closingSince > SAME_WISH) {
      log.warn({ signal }, 'told again while closing: ending at once');
      process.exit(1);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
}

async function closeAndExit(server: RunningServer): Promise<void> {
  await server.close();
  process.exit(0);
}

/** On stderr, not in the log: logs are kept and shipped, this is to be read once by the person who starts. */
function showFirstPassword(password: string): void {
  process.stderr.write(
    `\nFirst start: sign in as "admin" with the password\n\n    ${password}\n\n` +
      'It must be changed at the first sign-in. Until then it also stands in initial-admin-password\n' +
      'in the data folder, readable by you alone.\n\n',
  );
}

function fail(error: unknown): never {
  const isSetting =
    error instanceof ConfigError || (error instanceof HawserError && error.kind === 'invalid');
  process.stderr.write(`hawser: ${describe(error)}\n`);
  process.exit(isSetting ? EXIT_CONFIG : 1);
}

function describe(error: unknown): string {
  if (error instanceof HawserError && error.cause instanceof Error)
    return `${error.message}: ${error.cause.message}`;
  return error instanceof Error ? error.message : String(error);
}

main().catch(fail);
