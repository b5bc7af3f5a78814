/** Waits for a server that asks to come again later (429 and 503 with Retry-After), at most a minute in all. */

import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE, SECOND } from '../lib/clock.ts';
import type { Received } from './connection.ts';

const LONGEST_WAIT = 1 * MINUTE;

export interface Waiting {
  /** Is told before each wait. */
  onWait?: ((seconds: number) => void) | undefined;
  /** Tests do not wait. */
  sleep?: (milliseconds: number) => Promise<unknown>;
}

/** @returns the first answer that does not ask to wait, or the one that asks for more time than is left */
export async function sendPatiently(
  send: () => Promise<Received>,
  { onWait, sleep: wait = sleep }: Waiting = {},
): Promise<Received> {
  let left = LONGEST_WAIT;
  while (true) {
    const received = await send();
    const delay = askedDelay(received);
    if (delay === null || delay > left) return received;
    left -= delay;
    onWait?.(delay / SECOND);
    await wait(delay);
  }
}

/** In milliseconds; at least one second, so that a server that says 0 is not hammered. */
function askedDelay({ status, headers }: Received): number | null {
  const asked = headers['retry-after'];
  if ((status !== 429 && status !== 503) || asked === undefined) return null;
  const milliseconds = /^\d+$/.test(asked) ? Number(asked) * SECOND : Date.parse(asked) - Date.now();
  return Number.isNaN(milliseconds) ? null : Math.max(milliseconds, 1 * SECOND);
}
