/** The primary's side of the locks: one table for all workers. A worker that ends, however, holds nothing any more. */

import { LockTable, type Release } from '../lib/locks.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

/** A worker as the keeper sees it. */
export interface Holder {
  send(message: FromPrimary): void;
}

export class LockKeeper {
  private readonly table = new LockTable();
  private readonly held = new Map<Holder, Map<number, Release>>();

  take(holder: Holder, message: FromWorker & { type: 'acquire' | 'release' }): void {
    if (message.type === 'release') this.release(holder, message.id);
    else this.acquire(holder, message);
  }

  /** After the end of a worker: its locks are free, and its places in the queues too. */
  forget(holder: Holder): void {
    const releases = this.held.get(holder);
    this.held.delete(holder);
    // The last first: its places in the queues, before what it holds could be granted to it.
    for (const release of [...(releases?.values() ?? [])].reverse()) release();
  }

  private acquire(holder: Holder, { id, key, mode, onlyIfFree }: FromWorker & { type: 'acquire' }): void {
    if (onlyIfFree && !this.table.isFree(key)) {
      holder.send({ type: 'refused', id });
      return;
    }
    const releases = this.held.get(holder) ?? new Map<number, Release>();
    this.held.set(holder, releases);
    releases.set(
      id,
      this.table.request(key, mode, () => holder.send({ type: 'granted', id })),
    );
  }

  private release(holder: Holder, id: number): void {
    const releases = this.held.get(holder);
    const release = releases?.get(id);
    releases?.delete(id);
    release?.();
  }
}
