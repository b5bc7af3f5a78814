/** Measures what a list costs over HTTP, one request at a time, with little data and with much. */

import type { Client, Reply } from '../../test/support/client.ts';
import { expect } from './probe.ts';
import { inTurn, type ScaleRow, scaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';

/** The most time allowed with much data, as a multiple of the time with little. */
export const SCALE_TARGET = 1.5;
const LIST_REQUESTS = 40;
const ROUNDS_FACTOR = 3;

/** Measures once how many milliseconds something takes. */
export type Timing = () => Promise<number>;

/** Two timings of the same kind. */
export interface Pair {
  few: Timing;
  many: Timing;
}

/** Milliseconds per request and `items`, as the mean of several requests in a row. */
export function timeList(
  client: Client,
  path: string,
  expected: number,
  { items = 1, requests = LIST_REQUESTS } = {},
): Timing {
  return async () => {
    const start = performance.now();
    let last: Reply | undefined;
    for (let request = 0; request < requests; request += 1) last = await client.get(path);
    const ms = (performance.now() - start) / requests;
    if (last) expect(last.status === 200 && last.json.length === expected, `the list ${path}`, last);
    return ms / items;
  };
}

/** Milliseconds per request of something that is no list. */
export function timeAnswer(client: Client, path: string, requests: number): Timing {
  return async () => {
    const start = performance.now();
    let last: Reply | undefined;
    for (let request = 0; request < requests; request += 1) last = await client.get(path);
    if (last) expect(last.status === 200, `the answer of ${path}`, last);
    return (performance.now() - start) / requests;
  };
}

/** @param fast so many milliseconds with much data meet the target too */
export async function compare(
  what: string,
  compared: string,
  pair: Pair,
  effort: Effort,
  target: number | null = SCALE_TARGET,
  fast = 0,
): Promise<ScaleRow> {
  const times = { few: [] as number[], many: [] as number[] };
  await inTurn(manyRounds(effort), async (side, counts) => {
    const ms = await pair[side]();
    if (counts) times[side].push(ms);
  });
  return scaleRow(what, compared, times, target, fast);
}

/** A round is short here, so there are more of them. */
export function manyRounds({ rounds, warmUpRounds }: Effort) {
  return { rounds: rounds * ROUNDS_FACTOR, warmUpRounds };
}
