/** Merges the parameters of a node's scopes, and records for each leaf which scope set it. */

import { conflict } from '../lib/errors.ts';
import { LeafCount, MAX_LEAVES, MAX_POINTER_BYTES, tokenBytes } from './leaves.ts';
import { escapeToken, isMapping, type Mapping, type Value } from './value.ts';

export interface SourceValue {
  /** The index of the source. */
  source: number;
  value: Value;
}

/** The source of a leaf's value. */
export interface LeafProvenance extends SourceValue {
  /** The values of earlier sources at exactly the leaf's pointer, which may be whole mappings; the nearest comes first. */
  overridden: readonly SourceValue[];
}

export interface Merged {
  merged: Mapping;
  /** The leaves by their JSON Pointers (RFC 6901), in the order of the merged document. */
  provenance: ReadonlyMap<string, LeafProvenance>;
}

/**
 * Merges sources, the later ones over the earlier ones. Mappings merge key by key at every depth. Any other value
 * replaces the earlier value, and is replaced, as a whole. So an empty mapping changes nothing in a mapping, and replaces
 * any other value. Keys keep the order of their first appearance.
 *
 * A leaf is any value but a mapping with keys: a list is one leaf, and so is an empty mapping, except for the document
 * itself. Value and provenance come from the same step, so they cannot differ.
 * @throws HawserError conflict `parameter_merge_failed` if there are too many leaves, or their paths are too long
 */
export function mergeMappings(sources: readonly Mapping[]): Merged {
  const provenance = new Map<string, LeafProvenance>();
  return { merged: new Merging(provenance).mergeAll(sources), provenance };
}

/**
 * Makes the merged document alone, by the same steps in half the time. After a publish for all nodes there may be one
 * merge for each node. A value that only one source sets is used as it is, not copied.
 */
export function mergeUntraced(sources: readonly Mapping[]): Mapping {
  return new Merging(null).mergeAll(sources);
}

/**
 * Merges two sources, which gives the same as `mergeUntraced`. It counts no leaves, so the caller must know that the two
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

interface Layer {
  source: number;
  value: Mapping;
}

/** The place of a value: its JSON Pointer, which is empty if provenance is not traced, and the bytes of the pointer. */
interface Place {
  pointer: string;
  bytes: number;
}

class Merging {
  /** Null means that provenance is not traced. */
  private readonly trace: Map<string, LeafProvenance> | null;
  private readonly count = new LeafCount();

  constructor(trace: Map<string, LeafProvenance> | null) {
    this.trace = trace;
  }

  mergeAll(sources: readonly Mapping[]): Mapping {
    const layers = sources.map((value, source) => ({ source, value }));
    return this.mergeKeys(layers, 0, { pointer: '', bytes: 0 });
  }

  /**
   * Merges the values that the sources hold at a place, the last of which counts most. Values of sources before `first`
   * were replaced by a later value further up; they do not count, but are listed as overridden.
   */
  private mergeHeld(held: SourceValue[], first: number, place: Place): Value {
    const only = held.length === 1 && this.trace === null ? held[0] : undefined;
    if (only) {
      this.count.addAll(only.value, place.bytes);
      return only.value;
    }
    const base = held.findLastIndex(({ source, value }) => source < first || !isMapping(value)) + 1;
    const live = held[base];
    // From `base` on there are only mappings. If all of them are empty, the last one is a leaf.
    if (live && held.some(({ value }, at) => at >= base && isMapping(value) && value.size > 0))
      return this.mergeKeys(held.filter(isLayer), live.source, place);
    const { source, value } = held.pop() as SourceValue;
    this.count.add(place.bytes);
    this.trace?.set(place.pointer, { source, value, overridden: held.reverse() });
    return value;
  }

  private mergeKeys(layers: readonly Layer[], first: number, { pointer, bytes }: Place): Mapping {
    const merged = new Map<string, Value>();
    for (const layer of layers) {
      if (layer.source < first) continue;
      for (const key of layer.value.keys()) {
        if (merged.has(key)) continue;
        const held: SourceValue[] = [];
        for (const { source, value } of layers) {
          const item = value.get(key);
          if (item !== undefined) held.push({ source, value: item });
        }
        const inner = this.trace === null ? '' : `${pointer}/${escapeToken(key)}`;
        merged.set(key, this.mergeHeld(held, first, { pointer: inner, bytes: bytes + tokenBytes(key) }));
        // The check is in the loop, so that merging ends as soon as the bounds are passed.
        if (this.count.isBeyond) throw beyondBounds();
      }
    }
    return merged;
  }
}

function isLayer(held: SourceValue): held is Layer {
  return isMapping(held.value);
}

function beyondBounds() {
  const message = `The parameters make more than ${MAX_LEAVES} leaves, or ${MAX_POINTER_BYTES} bytes of paths, together`;
  return conflict('parameter_merge_failed', message);
}
