/**
 * Writes that arrive together share one transaction, and so one flush of the disk. While a batch is being written, the
 * next one gathers. No write waits for others to arrive.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { HawserError } from '../lib/errors.ts';
import { isHeld, translateDatabaseError } from './errors.ts';
import type { Schema } from './schema.ts';
import { PATIENCE, PAUSE } from './sqlite/writer.ts';

/** With these bounds a batch holds the writing connection and the event loop for some milliseconds at most. */
const MAX_ITEMS = 256;
const MAX_BYTES = 2 * 1024 * 1024;

export interface GroupCommitOptions<T, R> {
  /**
   * Writes a batch.
   * @returns the result of each item, in order: a value, or the error of that item alone
   */
  write(trx: Transaction<Schema>, items: readonly T[]): Promise<readonly (R | Error)[]>;
  /** The approximate size of an item, in bytes. */
  sizeOf(item: T): number;
  /** Is called after each commit with the number of items that shared it. */
  onCommit?(items: number): void;
}

interface Waiting<T, R> {
  item: T;
  /** Until this time, as `performance.now()` counts, the write is repeated while another process holds the database. */
  until: number;
  resolve(value: R): void;
  reject(error: unknown): void;
}

export class GroupCommit<T, R> {
  private readonly db: Kysely<Schema>;
  private readonly options: GroupCommitOptions<T, R>;
  private waiting: Waiting<T, R>[] = [];
  private isDraining = false;

  /** @param db must fail at once while another process holds the database, because each item has its own time limit */
  constructor(db: Kysely<Schema>, options: GroupCommitOptions<T, R>) {
    this.db = db;
    this.options = options;
  }

  /**
   * Resolves once the commit that holds the item is on the disk. Items are written in the order in which they come.
   * @throws what `write` gave for this item, or the error that its transaction failed with
   */
  submit(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, until: performance.now() + PATIENCE, resolve, reject });
      if (!this.isDraining) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.isDraining = true;
    do {
      // All items that arrive before the end of this turn of the event loop share the batch.
      await new Promise((resolve) => setImmediate(resolve));
      await this.commit(this.takeBatch());
    } while (this.waiting.length > 0);
    this.isDraining = false;
  }

  private takeBatch(): Waiting<T, R>[] {
    let bytes = 0;
    let count = 0;
    for (const { item } of this.waiting.slice(0, MAX_ITEMS)) {
      bytes += this.options.sizeOf(item);
      if (count > 0 && bytes > MAX_BYTES) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  private async commit(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const outcomes = await this.db.transaction().execute((trx) => this.options.write(trx, items));
      this.options.onCommit?.(items.length);
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index] as R | Error;
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      }
    } catch (error) {
      if (isHeld(error)) return this.putBack(batch, error);
      // A fault of the disk concerns all items. Any other fault is one item's, and the others must not fail with it.
      const isShared = translateDatabaseError(error) instanceof HawserError;
      if (batch.length > 1 && !isShared) for (const waiting of batch) await this.commit([waiting]);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** Puts the batch back to the front of the queue, except for items whose time is over. */
  private async putBack(batch: readonly Waiting<T, R>[], error: unknown): Promise<void> {
    const now = performance.now();
    this.waiting.unshift(...batch.filter(({ until }) => until > now));
    for (const { until, reject } of batch) if (until <= now) reject(error);
    await sleep(PAUSE);
  }
}
