/** Merges the parameters of a node's scopes, and says of each leaf which scope set it. */

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
 */
export function mergeMappings(sources: readonly Mapping[]): Merged {
  const provenance = new Map<string, LeafProvenance>();
  return { merged: mergeKeys(toLayers(sources), 0, '', provenance), provenance };
}

/**
 * The merged document alone, by the same steps in half the time: after a publishing for all nodes there may be one to
 * merge for each of them. What a single source sets is the very value that stands there.
 */
export function mergeUntraced(sources: readonly Mapping[]): Mapping {
  return mergeKeys(toLayers(sources), 0, '', null);
}

/** Null: nobody asks where a value comes from. */
type Trace = Map<string, LeafProvenance> | null;

interface Layer {
  source: number;
  value: Mapping;
}

function toLayers(sources: readonly Mapping[]): Layer[] {
  return sources.map((value, source) => ({ source, value }));
}

/**
 * Merges what the sources hold at `pointer`. Those before the source `first` lie under something that has replaced
 * them: they no longer count, but show as overridden. The last one in `held` counts.
 */
function mergeHeld(held: SourceValue[], first: number, pointer: string, trace: Trace): Value {
  const only = held.length === 1 && trace === null ? held[0] : undefined;
  if (only) return only.value;
  const base = held.findLastIndex(({ source, value }) => source < first || !isMapping(value)) + 1;
  const live = held[base];
  // Only mappings stand from `base` on; if all are empty, the last of them is a leaf.
  if (live && held.some(({ value }, at) => at >= base && isMapping(value) && value.size > 0))
    return mergeKeys(held.filter(isLayer), live.source, pointer, trace);
  const { source, value } = held.pop() as SourceValue;
  trace?.set(pointer, { source, value, overridden: held.reverse() });
  return value;
}

function mergeKeys(layers: readonly Layer[], first: number, pointer: string, trace: Trace): Mapping {
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
      const inner = trace === null ? '' : `${pointer}/${escapeToken(key)}`;
      merged.set(key, mergeHeld(held, first, inner, trace));
    }
  }
  return merged;
}

function isLayer(held: SourceValue): held is Layer {
  return isMapping(held.value);
}
