/**
 * The primary of several workers: starts them, keeps their locks, passes on signals, and replaces one that ends. It
 * answers no request and opens no store.
 */

import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { Gatherer } from './gatherer.ts';
import { type Holder, LockKeeper } from './lock-keeper.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

/** A worker could not start; why, it has said on stderr. */
export class StartFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('a worker could not start');
    this.exitCode = exitCode;
  }
}

export interface Workers {
  url: string;
  /** Has all workers take their TLS files anew. */
  reload(): void;
  /** Resolves when every worker has closed in order. */
  close(): Promise<void>;
}

/** Until another worker is started in place of one that ended, so that a fault at every start does not spin. */
const PAUSE = 1 * SECOND;

/**
 * Starts so many workers, each of which runs this same program.
 * @throws StartFailure when one cannot start; the others are ended then
 */
export async function startWorkers(count: number, log: Log): Promise<Workers> {
  const primary = new Primary(log);
  const urls = Array.from({ length: count }, () => primary.add());
  try {
    const [url = ''] = await Promise.all(urls);
    return { url, reload: () => primary.reload(), close: () => primary.close() };
  } catch (error) {
    primary.kill();
    throw error;
  }
}

class Primary {
  private readonly log: Log;
  private readonly locks = new LockKeeper();
  private readonly gatherer = new Gatherer();
  private readonly workers = new Map<Worker, Holder>();
  private leader: Worker | null = null;
  private ticketKeys = makeTicketKeys();
  private isClosing = false;

  constructor(log: Log) {
    this.log = log;
  }

  /** @returns the address at which the new worker listens */
  add(): Promise<string> {
    const worker = cluster.fork();
    const holder = { send: (message: FromPrimary) => tell(worker, message) };
    this.workers.set(worker, holder);
    this.leader ??= worker;
    return new Promise((resolve, reject) => {
      let isListening = false;
      worker.on('message', (message: FromWorker) => {
        // What it had said before it ended can come after its end, when nobody would give a lock back any more.
        if (!this.workers.has(worker)) return;
        if (message.type === 'ready') {
          const start = { isLeader: this.leader === worker, ticketKeys: this.ticketKeys };
          // One that is still starting has not heard that all is to end.
          holder.send(this.isClosing ? { type: 'close' } : { type: 'start', ...start });
        } else if (message.type === 'listening') {
          isListening = true;
          resolve(message.url);
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
        this.reload();
        break;
      case 'gather': {
        const others = [...this.workers.values()].filter((other) => other !== holder);
        this.gatherer.begin(message.id, holder, others);
        break;
      }
      case 'metrics':
        this.gatherer.take(message.id, holder, message.values);
        break;
    }
  }

  private drop(worker: Worker, holder: Holder): void {
    this.workers.delete(worker);
    if (this.leader === worker) this.leader = null;
    this.locks.forget(holder);
    this.gatherer.forget(holder);
  }

  /** Other keys: sessions of before cannot be resumed, since what they were verified against may no longer hold. */
  reload(): void {
    this.ticketKeys = makeTicketKeys();
    for (const holder of this.workers.values()) holder.send({ type: 'reload', ticketKeys: this.ticketKeys });
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

/** To a worker that has ended meanwhile nothing is said. */
function tell(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

function makeTicketKeys(): string {
  return randomBytes(48).toString('base64');
}
