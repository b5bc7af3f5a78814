/** Whether the server answers. Pages say so when it does not, and go on by themselves when it does again. */

import { signal } from '@preact/signals';

/** The time of the next attempt, in epoch milliseconds; null while the server answers. */
export const awayUntil = signal<number | null>(null);

/** In seconds: the pauses between attempts, the last one again and again. */
const PAUSES = [1, 2, 4, 8, 15];

let failures = 0;

/** Notes that no answer came, and gives the pause until the next attempt in milliseconds. */
export function noteAway(): number {
  // Several requests fail together; they are one failure.
  const isNoted = awayUntil.value !== null && awayUntil.value > Date.now();
  if (!isNoted) {
    const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 15;
    failures += 1;
    awayUntil.value = Date.now() + pause * 1_000;
  }
  return Math.max(0, (awayUntil.value ?? 0) - Date.now());
}

/** Notes that an answer came. */
export function noteAnswer(): void {
  if (failures === 0) return;
  failures = 0;
  awayUntil.value = null;
}
