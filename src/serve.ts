/** `hawser serve`: the server as a process, its first password and the signals that it obeys. */

import { SECOND } from './lib/clock.ts';
import { createLog, type Log } from './lib/log.ts';
import { notifyReady } from './lib/service-manager.ts';
import type { Command } from './operations/command-line.ts';
import type { RunningServer } from './server.ts';

export const serve: Command = {
  name: 'serve',
  help: 'run the server, until SIGTERM or SIGINT; SIGHUP takes the TLS files anew',
  async run({ config, clock }) {
    // Not before it is called for: the other commands need none of it.
    const { startServer } = await import('./server.ts');
    const log = createLog(config.logLevel);
    // What a service says on stderr is kept in a journal.
    const show = config.notifySocket === null ? showFirstPassword : showWhereFirstPasswordIs;
    const server = await startServer({ config, clock, log, showFirstPassword: show });
    process.on('SIGHUP', () => void server.reloadTls());
    const ended = closeOnSignals(server, log);
    // Last: who waits for this line may signal at once.
    log.info({ url: server.url, dataDir: config.dataDir, reposDir: config.reposDir }, 'listening');
    const { notifySocket: socket, searchPath } = config;
    await notifyReady({ socket, searchPath }, `listening on ${server.url}`, log);
    await ended;
    // A connection that outlives the grace must not keep the process.
    process.exit(0);
  },
};

/** Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. That is one wish, not two. */
const SAME_WISH = 1 * SECOND;

/**
 * The first signal closes in order; a later one, from somebody who will not wait, ends at once.
 * @returns when the server is closed
 */
function closeOnSignals(server: RunningServer, log: Log): Promise<void> {
  return new Promise((resolve) => {
    let closingSince: number | null = null;
    const onSignal = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      if (closingSince === null) {
        closingSince = now;
        log.info({ signal }, 'closing');
        resolve(server.close());
      } else if (now - closingSince > SAME_WISH) {
        log.warn({ signal }, 'told again while closing: ending at once');
        process.exit(1);
      }
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  });
}

/** On stderr, not in the log: logs are kept and shipped, this is to be read once by the person who starts. */
function showFirstPassword(password: string): void {
  process.stderr.write(
    `\nFirst start: sign in as "admin" with the password\n\n    ${password}\n\n` +
      'It must be changed at the first sign-in. Until then it also stands in initial-admin-password\n' +
      'in the data folder, readable by you alone.\n\n',
  );
}

function showWhereFirstPasswordIs(): void {
  process.stderr.write(
    'First start: the password of "admin" stands in initial-admin-password in the data folder\n',
  );
}
