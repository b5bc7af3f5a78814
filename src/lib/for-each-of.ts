/** Work on many things, few of them at a time. */

import { allSettled } from './awaitable.ts';

/**
 * Does `work` with each item, at most `limit` at once, begun in order. After a failure no more is begun; it is thrown
 * once nothing is under way any more.
 */
export async function forEachOf<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !isOver && !next.done; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  await allSettled(Array.from({ length: limit }, worker));
}
