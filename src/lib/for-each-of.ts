/** Work on many things, few of them at a time. */

import { allSettled } from './awaitable.ts';
import { Pace } from './pace.ts';

/**
 * Does `work` with each item, at most `limit` at once, begun in order. Other work of the event loop goes first now and then. After a
 * failure no more is begun; the failure is thrown once nothing is under way any more.
 */
export async function forEachOf<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = shared(items);
  const pace = new Pace();
  const worker = async (): Promise<void> => {
    for (const item of left) {
      if (pace.isDue) await pace.rest();
      await work(item);
    }
  };
  await allSettled(Array.from({ length: limit }, worker));
}

/** A loop that fails closes its generator, so that all other loops over the same generator end too. */
function* shared<T>(items: Iterable<T>): Generator<T> {
  yield* items;
}
