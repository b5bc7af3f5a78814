/** The command `hawser serve`: runs the server, and obeys signals. */

import { SECOND } from './lib/clock.ts';
import { createLog, type Log, openOutput } from './lib/log.ts';
import { keepTelling, notifyReady, notifyStatus } from './lib/service-manager.ts';
import type { Call, Command } from './operations/command-line.ts';
import { forgetReloads, noteReload, ReloadSignal } from './operations/reload.ts';
import type { RunningServer } from './server.ts';

/** systemd is told so often within the time after which it takes the server for hung (sd_watchdog_enabled(3)). */
const WATCHDOG_SHARE = 3;

export const serve: Command = {
  name: 'serve',
  help: 'run the server, until SIGTERM or SIGINT; SIGHUP takes the TLS files, the identity providers and the keys of secrets anew, SIGUSR2 turns the log level debug on and off',
  async run(call) {
    const { config } = call;
    const log = createLog(config.logLevel, openOutput(config.journalStream));
    switchLevelOnSignal(log);
    for (const retired of config.retired)
      log.warn(retired, 'this setting has no effect any more, and can be removed');
    // These modules are imported here because the other commands do not need them.
    const { lockFolders } = await import('./db/folder-lock.ts');
    const { startServer } = await import('./server.ts');
    let locks: ReturnType<typeof lockFolders> | undefined;
    const reloadSignal = new ReloadSignal();
    const server = await startServer({
      ...{ config, clock: call.clock, log, showFirstPassword: passwordReporter(config) },
      claimFolders: () => {
        locks = lockFolders(config);
        forgetReloads(config.dataDir);
      },
    });
    reloadSignal.serve(() => reload(server, config, log));
    const ended = closeOnSignals(server, log);
    const { dataDir, reposDir } = config;
    const database = await describeDatabase(config, log);
    const { startWatchdog } = await import('./threads/watchdog.ts');
    startWatchdog(config.journalStream);
    // This comes last, because whoever waits for this line may send a signal at once.
    const { url, ui } = server;
    log.info({ url, ...(ui && { uiUrl: ui.url }), dataDir, reposDir, ...database }, 'listening');
    const { notifySocket: socket, searchPath } = config;
    await notifyReady({ socket, searchPath }, `listening on ${url}`, log);
    if (config.watchdogInterval !== null)
      keepTelling({ socket, searchPath }, config.watchdogInterval / WATCHDOG_SHARE, log);
    await ended;
    locks?.release();
    // A connection that is still open after the grace must not keep the process.
    process.exit(0);
  },
};

/** What the log says of PostgreSQL. Nobody must believe that it has taken over what an SQLite database holds. */
async function describeDatabase(config: Call['config'], log: Log): Promise<{ database?: string }> {
  if (config.databaseUrl === null) return {};
  const { nameOfDatabase, unusedDatabase } = await import('./db/inspection.ts');
  const file = unusedDatabase(config);
  if (file !== null)
    log.warn(
      { file },
      'HAWSER_DATABASE_URL is set: what this SQLite database holds is not used, and is left as it is',
    );
  return { database: nameOfDatabase(config) };
}

async function reload(server: RunningServer, config: Call['config'], log: Log): Promise<void> {
  const { notifySocket: socket, searchPath, dataDir } = config;
  const faults = await noteReload(dataDir, () => server.reloadTls(), log);
  const refused = faults.length === 0 ? '' : `; the last reload was refused: ${faults.join('; ')}`;
  await notifyStatus({ socket, searchPath }, `listening on ${server.url}${refused}`, log);
}

/** SIGUSR2 switches between the level of the settings and `debug`; where that is `debug`, between it and `info`. */
function switchLevelOnSignal(log: Log): void {
  const usual = log.level === 'debug' ? 'info' : log.level;
  process.on('SIGUSR2', () => {
    const logLevel = log.level === 'debug' ? usual : 'debug';
    // Whichever of the two levels says more takes the line.
    if (logLevel === 'debug') log.level = logLevel;
    log.info({ logLevel }, 'the log level has changed');
    log.level = logLevel;
  });
}

/** Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. Both count as one within this time. */
const SAME_SIGNAL = 1 * SECOND;

/**
 * The first signal closes the server in order. A later one, from somebody who will not wait, ends it at once.
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
      } else if (now - closingSince > SAME_SIGNAL) {
        log.warn({ signal }, 'told again while closing: ending at once');
        process.exit(1);
      }
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  });
}

/** The stderr of a service is kept in a journal, so a service shows only where the password is. */
function passwordReporter({ notifySocket }: Call['config']): (password: string) => void {
  return notifySocket === null ? showFirstPassword : showWhereFirstPasswordIs;
}

/** Writes to stderr and not to the log. Logs are kept and shipped; only the person who starts the server reads this. */
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
