/** A fixed number of slots with a short queue: whoever gets no slot in time is told to come again. */

import { HawserError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface BoundedQueueOptions {
  slots: number;
  /** How many may wait for a slot. */
  waiting: number;
  /** Milliseconds after which waiting is given up. */
  patience: number;
}

export class BoundedQueue {
  private readonly options: BoundedQueueOptions;
  private readonly queue: FairQueue;

  constructor(options: BoundedQueueOptions) {
    this.options = options;
    this.queue = new FairQueue({ slots: options.slots });
  }

  /**
   * Waits for a slot.
   * @param gone is aborted when the one who waits has left
   * @returns a function that gives the slot back; to call it again does no harm
   * @throws HawserError `rate_limited` if the queue is full or the patience is over, `client_gone`
   */
  async take(gone: AbortSignal): Promise<() => void> {
    if (!this.queue.isFull) return this.queue.take('', gone);
    if (this.queue.waiting >= this.options.waiting) throw this.tooMany();
    const patience = AbortSignal.timeout(this.options.patience);
    try {
      return await this.queue.take('', AbortSignal.any([gone, patience]));
    } catch (error) {
      throw patience.aborted && !gone.aborted ? this.tooMany() : error;
    }
  }

  private tooMany(): HawserError {
    const retryAfter = Math.max(1, Math.ceil(this.options.patience / 1_000));
    return new HawserError('rate_limited', 'rate_limited', 'Too many at once; try again soon', {
      retryAfter,
    });
  }
}
