/** Waits for the effect of another program's change on the disk, and no longer than needed. */

import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 40;

/** Long, because a machine that is busy with other tests may need it. A check that passes ends the wait. */
const PATIENCE = 60_000;

/** Repeats the check until it passes. When the time is over, throws the last error of the check. */
export async function eventually<T>(check: () => Promise<T>, milliseconds = PATIENCE): Promise<T> {
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
