/** Finds out which of the documents of a history gave each leaf of the last one its value. */

import { isSameValue } from './same-value.ts';
import type { Mapping, Value } from './value.ts';

/** The leaves of a document by their JSON Pointers. */
export type Leaves = ReadonlyMap<string, { value: Value }>;

/**
 * @param documents the oldest comes first; null is one without values
 * @returns for each leaf of the last document the index of the one since which it has been there with this value
 */
export function traceLeaves(
  documents: readonly (Mapping | null)[],
  leavesOf: (document: Mapping) => Leaves,
): Map<string, number> {
  let known = new Map<string, { value: Value; since: number }>();
  for (const [at, document] of documents.entries()) {
    const next = new Map<string, { value: Value; since: number }>();
    for (const [pointer, { value }] of document === null ? [] : leavesOf(document)) {
      const before = known.get(pointer);
      const isSame = before !== undefined && isSameValue(before.value, value);
      next.set(pointer, isSame ? before : { value, since: at });
    }
    known = next;
  }
  return new Map(Array.from(known, ([pointer, { since }]) => [pointer, since]));
}
