/** A worker: a server like any other, whose part in the whole the primary decides. */

import cluster from 'node:cluster';
import { lockFolders } from '../db/folder-lock.ts';
import { newId } from '../lib/ids.ts';
import { createLog, type Log, openOutput } from '../lib/log.ts';
import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';
import type { Call } from '../operations/command-line.ts';
import { type RunningServer, startServer } from '../server.ts';
import { startWatchdog } from '../threads/watchdog.ts';
import type { FromPrimary, FromWorker, Role } from './messages.ts';
import { SharedLocks } from './shared-locks.ts';

/**
 * @returns never: the primary ends the worker
 * @throws what `startServer` throws; the primary sees from the exit code that the worker could not start
 */
export async function runWorker({ config, clock }: Call): Promise<number> {
  // While this worker lives, no other server may have the folders, even if the primary is dead. The lock is taken before
  // the primary hears of the worker, which starts only when the primary tells it to.
  lockFolders(config, 'member');
  const log = createLog(config.logLevel, openOutput(config.journalStream)).child({
    worker: cluster.worker?.id,
  });
  const channel = new WorkerChannel(log);
  const { isLeader, ticketKeys, logLevel } = await channel.open();
  log.level = logLevel;
  const part = {
    locks: channel.locks,
    isLeader,
    ticketKeys: Buffer.from(ticketKeys, 'base64'),
    leftBefore: () => channel.lostAt,
    onRenewed: () => say({ type: 'renewed' }),
    readOtherMetrics: () => channel.gather(),
  };
  // The settings name what all processes of a server may use together.
  const share = {
    cacheBytes: Math.ceil(config.cacheBytes / config.workers),
    nodeCallsAtOnce: Math.ceil(config.nodeCallsAtOnce / config.workers),
  };
  const showFirstPassword = () => undefined;
  const server = await startServer({ config: { ...config, ...share }, clock, log, showFirstPassword, part });
  channel.serve(server);
  startWatchdog(config.journalStream);
  return new Promise(() => undefined);
}

/** The channel to the primary, from the worker's start to its end. */
class WorkerChannel {
  readonly locks = new SharedLocks(say);
  /** A time in epoch milliseconds. Lock files that are older were left by a process that has ended. */
  lostAt = performance.timeOrigin;
  private readonly log: Log;
  private server: RunningServer | null = null;
  private onStarted: (server: RunningServer) => void = () => undefined;
  private readonly started = new Promise<RunningServer>((resolve) => {
    this.onStarted = resolve;
  });
  private readonly gatherings = new Map<string, (all: readonly MetricsOfProcess[]) => void>();

  constructor(log: Log) {
    this.log = log;
  }

  /** Resolves once the primary has said what this worker is to be. The worker ends if it loses its primary. */
  open(): Promise<Role> {
    process.on('disconnect', () => process.exit(1));
    // A terminal sends these signals to the whole group, and systemctl to all processes, but the primary says what to do.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const)
      process.on(signal, () => undefined);
    return new Promise((resolve) => {
      process.on('message', (message: FromPrimary) => {
        if (message.type === 'start') resolve(message);
        else this.take(message);
      });
      say({ type: 'ready' });
    });
  }

  /** Tells the primary that the server listens, and carries out the primary's orders from now on. */
  serve(server: RunningServer): void {
    this.server = server;
    this.onStarted(server);
    say({ type: 'listening', url: server.url, uiUrl: server.ui?.url ?? null });
  }

  /** Gives the metrics of the other workers. */
  gather(): Promise<readonly MetricsOfProcess[]> {
    const id = newId();
    return new Promise((resolve) => {
      this.gatherings.set(id, resolve);
      say({ type: 'gather', id });
    });
  }

  private take(message: Exclude<FromPrimary, { type: 'start' }>): void {
    switch (message.type) {
      case 'granted':
      case 'refused':
        this.locks.take(message);
        break;
      case 'lost':
        this.lostAt = Math.max(this.lostAt, message.at);
        break;
      case 'reload':
        void this.reload(message);
        break;
      case 'log-level':
        this.log.level = message.logLevel;
        break;
      case 'measure':
        void this.server?.readMetrics().then((values) => say({ type: 'metrics', id: message.id, values }));
        break;
      case 'gathered':
        this.gatherings.get(message.id)?.(message.all);
        this.gatherings.delete(message.id);
        break;
      case 'close':
        void this.end();
        break;
    }
  }

  private async reload({ id, ticketKeys }: FromPrimary & { type: 'reload' }): Promise<void> {
    // A worker that starts may have read the old files already.
    const server = await this.started;
    say({ type: 'reloaded', id, faults: await server.reloadTls(Buffer.from(ticketKeys, 'base64')) });
  }

  private async end(): Promise<void> {
    await this.server?.close();
    process.exit(0);
  }
}

function say(message: FromWorker): void {
  process.send?.(message, () => undefined);
}
