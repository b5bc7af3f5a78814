/** Lets the nodes of a seeded site go on calling, so that whoever looks at the console sees something move. */

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRandom } from '../fleet/random.ts';
import type { Machine } from './site/machine.ts';
import type { Outcome } from './site/reports.ts';

/** A node calls again after half of this time at least, and after one and a half times of it at most. */
const PAUSE_MS = 5_000;
const SEED = 20;
/** How often a node gets another outcome than it had. */
const CHANGES = 0.2;

/** @returns a function that ends it, and resolves when no call is open any more */
export function letLive(machines: readonly Machine[]): () => Promise<void> {
  const ended = new AbortController();
  // Every sleeping node listens.
  setMaxListeners(0, ended.signal);
  const lives = machines
    // Those that never called, and those that went silent, stay so.
    .filter(({ plan }) => plan.reach !== 'Registered' && !plan.isStale)
    .map((machine, at) => liveUntil(machine, makeRandom(SEED, at), ended.signal));
  return async () => {
    ended.abort();
    await Promise.all(lives);
  };
}

async function liveUntil(machine: Machine, random: () => number, signal: AbortSignal): Promise<void> {
  let { outcome } = machine.plan;
  while (!signal.aborted) {
    await sleep(PAUSE_MS * (0.5 + random()), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    if (random() < CHANGES) outcome = anOutcome(random());
    try {
      await machine.live(outcome);
    } catch {
      // Somebody may delete a node in the console, or the server may have gone. Neither ends the other nodes.
    }
  }
}

function anOutcome(drawn: number): Outcome {
  if (drawn < 0.1) return 'Error';
  return drawn < 0.3 ? 'NonCompliant' : 'Compliant';
}
