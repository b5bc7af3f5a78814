/** How many calls of nodes are carried out at once: a fleet that comes all at a time is told to come again. */

import { type Awaitable, settle } from '../lib/awaitable.ts';
import { HawserError } from '../lib/errors.ts';

/** Seconds; spread, so that those who were sent away do not come back together. */
const RETRY_AFTER = { least: 5, most: 30 };

export class NodeCalls {
  private readonly limit: number;
  private running = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @throws HawserError unavailable `overloaded` beyond the limit; then the work is not begun */
  run<T>(work: () => Awaitable<T>): Awaitable<T> {
    if (this.running >= this.limit) throw overloaded();
    this.running += 1;
    return settle<T, T>(
      work,
      (value) => {
        this.running -= 1;
        return value;
      },
      (error) => {
        this.running -= 1;
        throw error;
      },
    );
  }
}

/** To come again after a time that differs from caller to caller. */
export function overloaded(
  message = 'The server has as many calls of nodes as it can carry out; come again',
): HawserError {
  const { least, most } = RETRY_AFTER;
  const retryAfter = least + Math.floor(Math.random() * (most - least + 1));
  return new HawserError('unavailable', 'overloaded', message, { retryAfter });
}
