/** Waits for what another program's change on the disk brings about, without sleeping longer than it takes. */

import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 40;

/** Tries until the check passes; when the time is over, with the last failure. */
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
