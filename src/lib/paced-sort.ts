/** Sorts long lists in steps, so that other work of the event loop need not wait for the end. */

import { Pace } from './pace.ts';

/** Sorting so many items takes a millisecond or two. */
const RUN = 2_000;

/** The items in the order of `compare`, which is given as to `Array.sort`. Equal items stay in their order. */
export async function sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const pace = new Pace();
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    runs.push(items.slice(at, at + RUN).sort(compare));
    if (pace.isDue) await pace.rest();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], compare, pace));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
  pace: Pace,
): Promise<T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    const [one, other] = [left[l] as T, right[r] as T];
    const isFirst = compare(one, other) <= 0;
    merged.push(isFirst ? one : other);
    if (isFirst) l += 1;
    else r += 1;
    if (pace.isDue) await pace.rest();
  }
  return merged.concat(left.slice(l), right.slice(r));
}
