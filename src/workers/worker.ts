/** A worker as it sees itself: its channel to the primary, from its start to its end. */

import { newId } from '../lib/ids.ts';
import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';
import type { FromPrimary, FromWorker, Role } from './messages.ts';
import { SharedLocks } from './shared-locks.ts';

/** What the primary asks of a worker that runs. */
export interface Orders {
  reload(ticketKeys: string): Promise<void>;
  measure(): Promise<MetricsOfProcess>;
  close(): Promise<void>;
}

export class WorkerChannel {
  readonly locks = new SharedLocks(say);
  /** Epoch milliseconds: locks in files that are older were left by a process that has ended. */
  lostAt = performance.timeOrigin;
  private orders: Orders | null = null;
  private readonly gatherings = new Map<string, (all: readonly MetricsOfProcess[]) => void>();

  /** Resolves once the primary has said what this worker is to be. Without a primary there is nothing to work for. */
  open(): Promise<Role> {
    process.on('disconnect', () => process.exit(1));
    // A terminal sends them to the whole group, but when to end the primary says.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
    return new Promise((resolve) => {
      process.on('message', (message: FromPrimary) => {
        if (message.type === 'start') resolve(message);
        else this.take(message);
      });
      say({ type: 'ready' });
    });
  }

  listening(url: string, orders: Orders): void {
    this.orders = orders;
    say({ type: 'listening', url });
  }

  /** What the other workers have counted. */
  gather(): Promise<readonly MetricsOfProcess[]> {
    const id = newId();
    return new Promise((resolve) => {
      this.gatherings.set(id, resolve);
      say({ type: 'gather', id });
    });
  }

  renewed(): void {
    say({ type: 'renewed' });
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
        void this.orders?.reload(message.ticketKeys);
        break;
      case 'measure':
        void this.orders?.measure().then((values) => say({ type: 'metrics', id: message.id, values }));
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

  private async end(): Promise<void> {
    await this.orders?.close();
    process.exit(0);
  }
}

function say(message: FromWorker): void {
  process.send?.(message, () => undefined);
}
