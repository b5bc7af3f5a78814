/** Two mappings, one over the other. */

import { isMapping, type Mapping } from './value.ts';

/**
 * Merges two mappings, which gives the same as `mergeUntraced`. It counts no leaves, so the caller must know that the two
 * together are within the bounds. Otherwise aliases could make it endless.
 */
export function mergeOver(below: Mapping, above: Mapping): Mapping {
  const merged = new Map(below);
  for (const [key, value] of above) {
    const held = merged.get(key);
    merged.set(key, isMapping(value) && isMapping(held) ? mergeOver(held, value) : value);
  }
  return merged;
}
