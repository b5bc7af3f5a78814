/** Work on many nodes, in transactions that are so short that no poll and no other write waits for long. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Db } from './database.ts';

/** Milliseconds after which a transaction takes no further node. Its commit takes more time. */
const BUDGET = 5;
/** Milliseconds between two transactions. Polls and other writes get about half of the time, also on a busy machine. */
const PAUSE = 5;

/** When a transaction that begins now is to stop, as `performance.now()` counts. */
export const endOfSlice = () => performance.now() + BUDGET;

/** Waits between two transactions. */
export const giveWay = () => sleep(PAUSE);

/**
 * Works on a node, by its id or what else tells it, within a transaction that others share.
 * @param until is when to stop, as `performance.now()` counts
 * @returns the result; null where it is not done with the node, and is to be called again in the next transaction
 */
export type NodeWork<T, I = string> = (trx: Db, node: I, until: number) => Promise<T | null>;

/**
 * Works on the first of some nodes within a transaction.
 * @param until is when to stop, as `performance.now()` counts
 * @returns the results of those that it is done with. It is called again for the others, in the next transaction
 */
export type GroupWork<T, I = string> = (trx: Db, nodes: readonly I[], until: number) => Promise<T[]>;

/** Nodes that are written with the same statements. SQLite has done so many in a few milliseconds. */
const GROUP = 32;

/** Work that is done to each node by itself. */
export function oneByOne<T, I = string>(work: NodeWork<T, I>): GroupWork<T, I> {
  return async (trx, nodes, until) => {
    const results: T[] = [];
    for (const node of nodes) {
      const result = await work(trx, node, until);
      if (result === null) break;
      results.push(result);
      if (performance.now() >= until) break;
    }
    return results;
  };
}

/** Work that is done to many nodes with the same statements. */
export function inGroups<T, I = string>(
  work: (trx: Db, nodes: readonly I[]) => Promise<T[]>,
): GroupWork<T, I> {
  return async (trx, nodes, until) => {
    const results: T[] = [];
    while (results.length < nodes.length) {
      results.push(...(await work(trx, nodes.slice(results.length, results.length + GROUP))));
      if (performance.now() >= until) break;
    }
    return results;
  };
}

/**
 * Works on nodes in their order. The transactions are flushed together at the end, because a disk may take longer
 * for each flush than a poll may wait. The end of this process undoes none of them; a power cut may undo the last ones.
 * @param onCommitted is told of each node with its result, once that is committed
 * @returns the results in the order of the nodes, once all of them are on the disk
 * @throws what `work` throws; what was committed before stays
 */
export async function inSlices<T, I = string>(
  { writeUnflushed, flush }: Pick<Database, 'writeUnflushed' | 'flush'>,
  nodes: readonly I[],
  work: GroupWork<T, I>,
  onCommitted: (node: I, result: T) => void = () => undefined,
): Promise<T[]> {
  const results: T[] = [];
  while (results.length < nodes.length) {
    const left = nodes.slice(results.length);
    const made = await writeUnflushed.transaction().execute((trx) => work(trx, left, endOfSlice()));
    for (const [at, result] of made.entries()) onCommitted(left[at] as I, result);
    results.push(...made);
    await giveWay();
  }
  await flush();
  return results;
}
