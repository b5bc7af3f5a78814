/** A worker's side of the locks that the primary keeps for all workers. To take one costs a message each way. */

import { type LockMode, Locks, type Release } from '../lib/locks.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

export class SharedLocks extends Locks {
  private readonly send: (message: FromWorker) => void;
  private readonly waiting = new Map<number, (isGranted: boolean) => void>();
  private lastId = 0;

  constructor(send: (message: FromWorker) => void) {
    super();
    this.send = send;
  }

  /** To be called with each message of the primary. */
  take({ type, id }: FromPrimary & { type: 'granted' | 'refused' }): void {
    const settle = this.waiting.get(id);
    this.waiting.delete(id);
    settle?.(type === 'granted');
  }

  async acquire(key: string, mode: LockMode): Promise<Release> {
    const { id } = await this.ask(key, mode, false);
    return () => this.send({ type: 'release', id });
  }

  async acquireIfFree(key: string): Promise<Release | null> {
    const { id, isGranted } = await this.ask(key, 'alone', true);
    return isGranted ? () => this.send({ type: 'release', id }) : null;
  }

  private ask(key: string, mode: LockMode, onlyIfFree: boolean): Promise<{ id: number; isGranted: boolean }> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, (isGranted) => resolve({ id, isGranted }));
      this.send({ type: 'acquire', id, key, mode, onlyIfFree });
    });
  }
}
