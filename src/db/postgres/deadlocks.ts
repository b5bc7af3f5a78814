/** Does again what PostgreSQL has ended because of a deadlock. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeadlock } from './errors.ts';

/** How often something is done in all before a deadlock is an error. */
const TRIES = 3;
/** Each pause is a random time up to this, in milliseconds, so that the same writers do not meet again. */
const LONGEST_PAUSE = 50;

/** Does the work again after a deadlock. @throws what the last try throws, or an error of another kind */
export async function againAfterDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isDeadlock(error)) throw error;
      await sleep(Math.random() * LONGEST_PAUSE);
    }
  }
}
