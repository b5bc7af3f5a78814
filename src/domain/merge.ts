/** Merges the parameters of a node's scopes, and says of each leaf which scope set it. */

import { conflict } from '../lib/errors.ts';
import { LeafCount, MAX_LEAVES, MAX_POINTER_BYTES, tokenBytes } from './leaves.ts';
import { escapeToken, isMapping, type Mapping, type Value } from './value.ts';

export interface SourceValue {
  /** Index into the merged sources. */
  source: number;
  value: Value;
}

/** Where a leaf's value comes from. */
export interface LeafProvenance extends SourceValue {
  /** What earlier sources hold at exactly the leaf's pointer, a mapping as a whole too; the nearest first. */
  overridden: readonly SourceValue[];
}

export interface Merged {
  merged: Mapping;
  /** By JSON Pointer (RFC 6901), in the order of the merged document. */
  provenance: ReadonlyMap<string, LeafProvenance>;
}

/**
 * Merges sources, the later ones over the earlier ones. Mappings merge key by key at every depth; anything else
 * replaces what stands there, and is replaced, as a whole. So an empty mapping changes nothing in a mapping, and takes
 * the place of anything else. Keys stand in the order of their first appearance.
 *
 * A leaf is whatever is not a mapping with keys: a list is one leaf, and so is an empty mapping, except for the
 * document itself. Value and provenance come from the same step, so that they cannot differ.
 * @throws HawserError conflict `parameter_merge_failed` when they make more leaves, or longer paths, than there may be
 */
export function mergeMappings(sources: readonly Mapping[]): Merged {
  const provenance = new Map<string, LeafProvenance>();
  return { merged: new Merging(provenance).mergeAll(sources), provenance };
}

/**
 * The merged document alone, by the same steps in half the time: after a publishing for all nodes there may be one to
 * merge for each of them. What a single source sets is the very value that stands there.
 */
export function mergeUntraced(sources: readonly Mapping[]): Mapping {
  return new Merging(null).mergeAll(sources);
}

interface Layer {
  source: number;
  value: Mapping;
}

/** Where a value stands: its JSON Pointer, if anybody asks where values come from, and the bytes of that. */
interface Place {
  pointer: string;
  bytes: number;
}

class Merging {
  /** Null: nobody asks where a value comes from. */
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
   * Merges what the sources hold at a place. Those before the source `first` lie under something that has replaced
   * them: they no longer count, but show as overridden. The last one in `held` counts.
   */
  private mergeHeld(held: SourceValue[], first: number, place: Place): Value {
    const only = held.length === 1 && this.trace === null ? held[0] : undefined;
    if (only) {
      this.count.addAll(only.value, place.bytes);
      return only.value;
    }
    const base = held.findLastIndex(({ source, value }) => source < first || !isMapping(value)) + 1;
    const live = held[base];
    // Only mappings stand from `base` on; if all are empty, the last of them is a leaf.
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
        // Here, so that merging ends as soon as it is too much, however much more there is.
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
