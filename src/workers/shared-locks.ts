/** Locks that all workers share. The primary keeps one table for all of them, so taking a lock costs two messages. */

import { type LockMode, Locks, LockTable, type Release } from '../lib/locks.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

/** A worker as the primary sees it. */
export interface Holder {
  send(message: FromPrimary): void;
}

/** The primary's side. A worker that ends, in whatever way, holds nothing any more. */
export class LockKeeper {
  private readonly table = new LockTable();
  private readonly held = new Map<Holder, Map<number, Release>>();

  take(holder: Holder, message: FromWorker & { type: 'acquire' | 'release' }): void {
    const releases = this.held.get(holder) ?? new Map<number, Release>();
    this.held.set(holder, releases);
    if (message.type === 'acquire') this.acquire(holder, message, releases);
    else {
      const release = releases.get(message.id);
      releases.delete(message.id);
      release?.();
    }
  }

  /** Is called after the end of a worker: frees its locks and its places in the queues. */
  forget(holder: Holder): void {
    const releases = this.held.get(holder);
    this.held.delete(holder);
    // The newest come first, so that its places in a queue are gone before a lock that it holds could be granted to it.
    for (const release of [...(releases?.values() ?? [])].reverse()) release();
  }

  private acquire(
    holder: Holder,
    { id, key, mode, onlyIfFree }: FromWorker & { type: 'acquire' },
    releases: Map<number, Release>,
  ): void {
    if (onlyIfFree && !this.table.isFree(key)) holder.send({ type: 'refused', id });
    else
      releases.set(
        id,
        this.table.request(key, mode, () => holder.send({ type: 'granted', id })),
      );
  }
}

/** A worker's side. */
export class SharedLocks extends Locks {
  private readonly send: (message: FromWorker) => void;
  private readonly waiting = new Map<number, (isGranted: boolean) => void>();
  private lastId = 0;

  constructor(send: (message: FromWorker) => void) {
    super();
    this.send = send;
  }

  /** Is called with each answer of the primary. */
  take({ type, id }: FromPrimary & { type: 'granted' | 'refused' }): void {
    const answer = this.waiting.get(id);
    this.waiting.delete(id);
    answer?.(type === 'granted');
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
