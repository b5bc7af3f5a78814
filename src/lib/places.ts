/** A fixed number of places with a short queue before them: who gets none in time is told to come again. */

import { clientGone } from './client-gone.ts';
import { HawserError } from './errors.ts';

export interface PlacesOptions {
  /** How many may be inside at once. */
  limit: number;
  /** How many may wait for a place. */
  queue: number;
  /** Milliseconds after which waiting is given up. */
  patience: number;
}

interface Waiter {
  enter(): void;
}

export class Places {
  private readonly options: PlacesOptions;
  private readonly waiting = new Set<Waiter>();
  private inside = 0;

  constructor(options: PlacesOptions) {
    this.options = options;
  }

  /**
   * @param gone aborted when the one who waits has left
   * @returns gives the place back; more than one call does no harm
   * @throws HawserError `rate_limited`
   */
  async take(gone: AbortSignal): Promise<() => void> {
    if (this.inside < this.options.limit) this.inside += 1;
    else await this.wait(gone);
    let held = true;
    return () => {
      if (held) this.leave();
      held = false;
    };
  }

  private wait(gone: AbortSignal): Promise<void> {
    if (gone.aborted) throw clientGone();
    if (this.waiting.size >= this.options.queue) throw this.full();
    return new Promise((resolve, reject) => {
      const settle = (error: HawserError | null): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', onGone);
        this.waiting.delete(waiter);
        if (error) reject(error);
        else resolve();
      };
      const onGone = () => settle(clientGone());
      const timer = setTimeout(() => settle(this.full()), this.options.patience);
      const waiter = { enter: () => settle(null) };
      gone.addEventListener('abort', onGone);
      this.waiting.add(waiter);
    });
  }

  /** The place is handed on rather than freed, so that a newcomer cannot overtake the queue. */
  private leave(): void {
    const [next] = this.waiting;
    if (next) next.enter();
    else this.inside -= 1;
  }

  private full(): HawserError {
    const retryAfter = Math.max(1, Math.ceil(this.options.patience / 1_000));
    return new HawserError('rate_limited', 'rate_limited', 'Too many at once; try again soon', {
      retryAfter,
    });
  }
}
