/**
 * The primary of several workers. It starts them, keeps their locks, passes on signals, and replaces a worker that ends.
 * It answers no request and opens no store.
 */

import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { SECOND } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Log, LogLevel } from '../lib/log.ts';
import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';
import type { FromPrimary, FromWorker } from './messages.ts';
import { type Holder, LockKeeper } from './shared-locks.ts';

/** A worker could not start. It has written the reason to stderr. */
export class StartFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('a worker could not start');
    this.exitCode = exitCode;
  }
}

/** The addresses of a worker, which are those of all. */
export interface Addresses {
  url: string;
  uiUrl: string | null;
}

export interface Workers extends Addresses {
  /** Makes all workers read their TLS files again. @returns the faults that they found, a line each */
  reload(): Promise<string[]>;
  /** Resolves when every worker has closed its server and ended. */
  close(): Promise<void>;
}

/** The pause before a worker that ended is replaced, so that a fault at every start does not make a busy loop. */
const PAUSE = 1 * SECOND;

/**
 * Starts the workers, each of which runs this same program.
 * @throws StartFailure if one of them cannot start; the others are ended then
 */
export async function startWorkers(count: number, log: Log): Promise<Workers> {
  const primary = new Primary(log);
  const starts = Array.from({ length: count }, () => primary.add());
  try {
    const [addresses = { url: '', uiUrl: null }] = await Promise.all(starts);
    return { ...addresses, reload: () => primary.reload(), close: () => primary.close() };
  } catch (error) {
    primary.kill();
    throw error;
  }
}

/** The metrics of all other workers, collected for the one that was asked. */
interface Gathering {
  asker: Holder;
  /** The workers that have not answered yet. */
  missing: Set<Holder>;
  all: MetricsOfProcess[];
}

/** A reload that not all workers have ended yet. */
interface Reload {
  missing: Set<Holder>;
  faults: Set<string>;
  onEnd(faults: string[]): void;
}

class Primary {
  private readonly log: Log;
  private readonly locks = new LockKeeper();
  private readonly gatherings = new Map<string, Gathering>();
  private readonly reloads = new Map<string, Reload>();
  private readonly workers = new Map<Worker, Holder>();
  private leader: Worker | null = null;
  private ticketKeys = makeTicketKeys();
  private isClosing = false;

  constructor(log: Log) {
    this.log = log;
    log.on('level-change', () => this.shareLogLevel());
  }

  /** Starts a worker. @returns when it listens */
  add(): Promise<Addresses> {
    const worker = cluster.fork();
    const holder = { send: (message: FromPrimary) => send(worker, message) };
    this.workers.set(worker, holder);
    this.leader ??= worker;
    return new Promise((resolve, reject) => {
      let isListening = false;
      worker.on('message', (message: FromWorker) => {
        // Messages of a worker can arrive after its end. A lock granted then would never be given back.
        if (!this.workers.has(worker)) return;
        if (message.type === 'ready') {
          const { ticketKeys, logLevel } = this;
          const start = { isLeader: this.leader === worker, ticketKeys, logLevel };
          // A worker that is still starting has not received the order to close.
          holder.send(this.isClosing ? { type: 'close' } : { type: 'start', ...start });
        } else if (message.type === 'listening') {
          isListening = true;
          resolve({ url: message.url, uiUrl: message.uiUrl });
        } else this.take(holder, message);
      });
      worker.once('exit', (code, signal) => {
        this.drop(worker, holder);
        if (isListening) this.replace(worker, { code, signal });
        else reject(new StartFailure(code || 1));
      });
    });
  }

  private take(holder: Holder, message: Exclude<FromWorker, { type: 'ready' | 'listening' }>): void {
    switch (message.type) {
      case 'acquire':
      case 'release':
        this.locks.take(holder, message);
        break;
      case 'renewed':
        void this.reload();
        break;
      case 'reloaded':
        for (const fault of message.faults) this.reloads.get(message.id)?.faults.add(fault);
        this.endReload(message.id, holder);
        break;
      case 'gather':
        this.gather(message.id, holder);
        break;
      case 'metrics':
        this.gatherings.get(message.id)?.all.push(message.values);
        this.stopWaiting(message.id, holder);
        break;
    }
  }

  private gather(id: string, asker: Holder): void {
    const missing = new Set(this.workers.values());
    this.gatherings.set(id, { asker, missing, all: [] });
    for (const other of missing) if (other !== asker) other.send({ type: 'measure', id });
    this.stopWaiting(id, asker);
  }

  /** Answers the asker once nobody is missing any more. */
  private stopWaiting(id: string, holder: Holder): void {
    const gathering = this.gatherings.get(id);
    if (!gathering?.missing.delete(holder) || gathering.missing.size > 0) return;
    this.gatherings.delete(id);
    gathering.asker.send({ type: 'gathered', id, all: gathering.all });
  }

  private drop(worker: Worker, holder: Holder): void {
    this.workers.delete(worker);
    if (this.leader === worker) this.leader = null;
    this.locks.forget(holder);
    for (const id of this.reloads.keys()) this.endReload(id, holder);
    for (const [id, { asker }] of this.gatherings) {
      if (asker === holder) this.gatherings.delete(id);
      else this.stopWaiting(id, holder);
    }
  }

  /** Makes new ticket keys too: the certificates that older sessions were verified against may no longer be valid. */
  reload(): Promise<string[]> {
    this.ticketKeys = makeTicketKeys();
    const id = newId();
    const missing = new Set(this.workers.values());
    if (missing.size === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      this.reloads.set(id, { missing, faults: new Set(), onEnd: resolve });
      for (const holder of missing) holder.send({ type: 'reload', id, ticketKeys: this.ticketKeys });
    });
  }

  /** Ends a reload once every worker has carried it out, or has ended. */
  private endReload(id: string, holder: Holder): void {
    const reload = this.reloads.get(id);
    if (!reload?.missing.delete(holder) || reload.missing.size > 0) return;
    this.reloads.delete(id);
    reload.onEnd([...reload.faults]);
  }

  private shareLogLevel(): void {
    const { logLevel } = this;
    for (const holder of this.workers.values()) holder.send({ type: 'log-level', logLevel });
  }

  private get logLevel(): LogLevel {
    return this.log.level as LogLevel;
  }

  async close(): Promise<void> {
    this.isClosing = true;
    const ends = [...this.workers.keys()].map(
      (worker) => new Promise((resolve) => worker.once('exit', resolve)),
    );
    for (const holder of this.workers.values()) holder.send({ type: 'close' });
    await Promise.all(ends);
  }

  kill(): void {
    this.isClosing = true;
    for (const worker of this.workers.keys()) worker.process.kill('SIGKILL');
  }

  private replace(worker: Worker, how: { code: number | null; signal: string | null }): void {
    if (this.isClosing) return;
    this.log.error({ worker: worker.id, ...how }, 'a worker ended; another takes its place');
    for (const other of this.workers.values()) other.send({ type: 'lost', at: Date.now() });
    setTimeout(() => {
      if (this.isClosing) return;
      this.add().catch((error) => {
        this.log.error({ err: error }, 'a worker could not be started');
        this.replace(worker, how);
      });
    }, PAUSE);
  }
}

/** Sends a message, unless the worker has ended. */
function send(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

function makeTicketKeys(): string {
  return randomBytes(48).toString('base64');
}
