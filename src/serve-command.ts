/** `hawser serve`: the server as one process or several, its first password and the signals that it obeys. */

import cluster from 'node:cluster';
import { SECOND } from './lib/clock.ts';
import { createLog, type Log } from './lib/log.ts';
import { notifyReady } from './lib/service-manager.ts';
import type { Call, Command } from './operations/command-line.ts';

/** What runs, however many processes it is. */
interface Running {
  url: string;
  reload(): void;
  close(): Promise<void>;
}

export const serve: Command = {
  name: 'serve',
  help: 'run the server, until SIGTERM or SIGINT; SIGHUP takes the TLS files anew',
  async run(call) {
    const { config } = call;
    if (cluster.isWorker) {
      const { runWorker } = await import('./workers/run.ts');
      return runWorker(call);
    }
    const log = createLog(config.logLevel);
    const running = config.workers === 1 ? await startAlone(call, log) : await startSeveral(call, log);
    process.on('SIGHUP', () => running.reload());
    const ended = closeOnSignals(running, log);
    const { dataDir, reposDir, workers } = config;
    const several = workers === 1 ? {} : { workers };
    // Last: who waits for this line may signal at once.
    log.info({ url: running.url, dataDir, reposDir, ...several }, 'listening');
    const { notifySocket: socket, searchPath } = config;
    await notifyReady({ socket, searchPath }, `listening on ${running.url}`, log);
    await ended;
    // A connection that outlives the grace must not keep the process.
    process.exit(0);
  },
};

async function startAlone({ config, clock }: Call, log: Log): Promise<Running> {
  // Not before it is called for: the other commands need none of it.
  const { startServer } = await import('./server.ts');
  const server = await startServer({ config, clock, log, showFirstPassword: passwordTeller(config) });
  return { url: server.url, reload: () => void server.reloadTls(), close: () => server.close() };
}

async function startSeveral({ config, clock }: Call, log: Log): Promise<Running> {
  const { prepareServer } = await import('./stores.ts');
  const { StartFailure, startWorkers } = await import('./workers/primary.ts');
  await prepareServer({ config, clock, log, showFirstPassword: passwordTeller(config) });
  try {
    return await startWorkers(config.workers, log);
  } catch (error) {
    if (error instanceof StartFailure) process.exit(error.exitCode);
    throw error;
  }
}

/** Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. That is one wish, not two. */
const SAME_WISH = 1 * SECOND;

/**
 * The first signal closes in order; a later one, from somebody who will not wait, ends at once.
 * @returns when the server is closed
 */
function closeOnSignals(running: Running, log: Log): Promise<void> {
  return new Promise((resolve) => {
    let closingSince: number | null = null;
    const onSignal = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      if (closingSince === null) {
        closingSince = now;
        log.info({ signal }, 'closing');
        resolve(running.close());
      } else if (now - closingSince > SAME_WISH) {
        log.warn({ signal }, 'told again while closing: ending at once');
        process.exit(1);
      }
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  });
}

/** What a service says on stderr is kept in a journal. */
function passwordTeller({ notifySocket }: Call['config']): (password: string) => void {
  return notifySocket === null ? showFirstPassword : showWhereFirstPasswordIs;
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
