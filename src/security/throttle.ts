/** Limits how often a password may be tried. Attempts are counted in SQL, in windows of a minute. */

import { countAttempt } from '../db/accounts.ts';
import type { Database, Db } from '../db/database.ts';
import { MINUTE, SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';

const MAX_ATTEMPTS_PER_WINDOW = 30;
const WINDOW = MINUTE;

/**
 * Counts an attempt from one source: a user, or a client's address as `sourceOf` gives it.
 * @param onFirstRefusal runs in the transaction that counts the first refused attempt of a window
 * @throws HawserError rate_limited beyond 30 attempts a minute
 */
export async function throttle(
  database: Database,
  source: string,
  now: number,
  onFirstRefusal: (trx: Db) => Promise<void> = async () => undefined,
): Promise<void> {
  const { attempts, windowStart } = await database.write.transaction().execute(async (trx) => {
    const counted = await countAttempt(trx, source, now, WINDOW);
    if (counted.attempts === MAX_ATTEMPTS_PER_WINDOW + 1) await onFirstRefusal(trx);
    return counted;
  });
  if (attempts <= MAX_ATTEMPTS_PER_WINDOW) return;
  const retryAfter = Math.max(1, Math.ceil((windowStart + WINDOW - now) / SECOND));
  throw new HawserError('rate_limited', 'rate_limited', 'Too many attempts; wait a little', { retryAfter });
}
