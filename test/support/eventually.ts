/** Waits for the effect of another program's change on the disk, and no longer than needed. */

import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 40;

/** Repeats the check until it passes. When the time is over, throws the last error of the check. */
export async function eventually<T>(check: () => Promise<T>, milliseconds = 2_500): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await sleep(PAUSE);
  }
}
