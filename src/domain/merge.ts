/** Merges the parameters of a node's scopes, and records for each leaf which scope set it. */

import { conflict, type FieldError } from '../lib/errors.ts';
import { LeafCount, MAX_LEAVES, MAX_POINTER_BYTES, tokenBytes } from './leaves.ts';
import { joinLists, listIn } from './list-merging.ts';
import { isListStrategy, type ListStrategy, type MergeStrategy } from './merge-strategies.ts';
import { PARAMETERS } from './secrets.ts';
import { firstAfter, type Gone, goneBehind, goneBy, UNSET } from './unset.ts';
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
  /** The lists that make the value together, lowest precedence first, where there are several. */
  mergedFrom?: readonly SourceValue[];
  /** The value before variables were replaced in it, where there are some. */
  text?: Value;
}

/** How the values of certain parameters meet, and whether files unset any. */
export interface MergeRules {
  strategies: ReadonlyMap<string, MergeStrategy>;
  /** Whether `unset` of a file is what it says. Otherwise it is a value as any other. */
  hasUnset: boolean;
}

export interface Merged {
  merged: Mapping;
  /** The leaves by their JSON Pointers (RFC 6901), in the order of the merged document. */
  provenance: ReadonlyMap<string, LeafProvenance>;
  /** The items that `byKey` cannot tell from others, each with the code `merge_key`. */
  faults: readonly FieldError[];
}

const BY_DEFAULT: MergeRules = { strategies: new Map(), hasUnset: false };
const MAX_FAULTS = 100;

/**
 * Merges sources, the later ones over the earlier ones. Mappings merge key by key at every depth. Any other value
 * replaces the earlier value, and is replaced, as a whole. So an empty mapping changes nothing in a mapping, and replaces
 * any other value. Keys keep the order of their first appearance.
 *
 * A leaf is any value but a mapping with keys: a list is one leaf, and so is an empty mapping, except for the document
 * itself. Value and provenance come from the same step, so they cannot differ.
 * @throws HawserError conflict `parameter_merge_failed` if there are too many leaves, or their paths are too long
 */
export function mergeMappings(sources: readonly Mapping[], rules = BY_DEFAULT): Merged {
  const provenance = new Map<string, LeafProvenance>();
  const merging = new Merging(provenance, rules);
  return { merged: merging.mergeAll(sources), provenance, faults: merging.faults };
}

/**
 * Makes the merged document alone, by the same steps in half the time. After a publish for all nodes there may be one
 * merge for each node. A value that only one source sets is used as it is, not copied.
 */
export function mergeUntraced(sources: readonly Mapping[], rules = BY_DEFAULT): Mapping {
  return mergeByRules(sources, rules).merged;
}

/** The same, with what `byKey` cannot tell apart. */
export function mergeByRules(
  sources: readonly Mapping[],
  rules: MergeRules,
): Pick<Merged, 'merged' | 'faults'> {
  const merging = new Merging(null, rules);
  return { merged: merging.mergeAll(sources), faults: merging.faults };
}

interface Layer {
  source: number;
  value: Mapping;
}

/** The place of a value: its JSON Pointer, which is empty if provenance is not traced, and the bytes of the pointer. */
interface Place {
  pointer: string;
  bytes: number;
  /** The number of keys in the pointer. */
  depth: number;
  /** Whether the place is that of all parameters. */
  isParameters: boolean;
  /** What files unset further in. */
  gone: readonly Gone[];
}

/** How values meet at a place. */
interface Meeting {
  /** The name of the parameter, where the place is that of one. */
  name: string;
  strategy: MergeStrategy | undefined;
}

const AS_EVER: Meeting = { name: '', strategy: undefined };

class Merging {
  readonly faults: FieldError[] = [];
  /** Null means that provenance is not traced. */
  private readonly trace: Map<string, LeafProvenance> | null;
  private readonly rules: MergeRules;
  private readonly count = new LeafCount();

  constructor(trace: Map<string, LeafProvenance> | null, rules: MergeRules) {
    this.trace = trace;
    this.rules = rules;
  }

  mergeAll(sources: readonly Mapping[]): Mapping {
    const layers = sources.map((value, source) => ({ source, value }));
    const gone = this.rules.hasUnset ? goneBy(sources) : [];
    return this.mergeKeys(layers, 0, { pointer: '', bytes: 0, depth: 0, isParameters: false, gone });
  }

  /**
   * Merges the values that the sources hold at a place, the last of which counts most. Values of sources before `first`
   * were replaced by a later value further up, or unset; they do not count, but are listed as overridden.
   */
  private mergeHeld(held: SourceValue[], first: number, place: Place, { name, strategy }: Meeting): Value {
    if (isListStrategy(strategy)) return this.joinHeld(held, first, place, { name, strategy });
    const only = held.length === 1 && this.isTakenWhole(place) ? held[0] : undefined;
    if (only) {
      this.count.addAll(only.value, place.bytes);
      return only.value;
    }
    const isBelow = ({ source, value }: SourceValue) => source < first || !isMapping(value);
    const base = strategy === 'replace' ? held.length - 1 : held.findLastIndex(isBelow) + 1;
    const live = held[base];
    // From `base` on there are only mappings. If all of them are empty, the last one is a leaf.
    if (live && held.some(({ value }, at) => at >= base && isMapping(value) && value.size > 0)) {
      const merged = this.mergeKeys(held.filter(isLayer), live.source, place);
      if (merged.size > 0) return merged;
      // All that it held is unset.
      return this.leaf(held, place, { value: merged });
    }
    return this.leaf(held, place, {});
  }

  /** Whether a value that only one source has is what it becomes, so that nothing in it needs a look. */
  private isTakenWhole({ isParameters, gone }: Place): boolean {
    return this.trace === null && gone.length === 0 && !(isParameters && this.rules.strategies.size > 0);
  }

  /** Joins the lists. A value that is no list replaces what is below, and is replaced by a list. */
  private joinHeld(
    held: SourceValue[],
    first: number,
    place: Place,
    { name, strategy }: { name: string; strategy: ListStrategy },
  ): Value {
    const lists = held.map(({ source, value }) => (source < first ? null : listIn(value)));
    const base = lists.lastIndexOf(null) + 1;
    if (base === held.length) return this.leaf(held, place, {});
    const live = held.slice(base);
    const { list, unkeyed } = joinLists(strategy, lists.slice(base) as (readonly Value[])[]);
    for (const at of unkeyed) {
      if (this.faults.length === MAX_FAULTS) break;
      this.faults.push(mergeKeyFault(name, at));
    }
    return this.leaf(held, place, { value: list, ...(live.length > 1 && { mergedFrom: live }) });
  }

  /** Notes the leaf, which is of the last source. */
  private leaf(held: SourceValue[], place: Place, made: Partial<LeafProvenance>): Value {
    const leaf = { ...(held.pop() as SourceValue), overridden: held.reverse(), ...made };
    this.count.add(place.bytes);
    this.trace?.set(place.pointer, leaf);
    return leaf.value;
  }

  private mergeKeys(layers: readonly Layer[], first: number, place: Place): Mapping {
    const { pointer, bytes, depth } = place;
    const merged = new Map<string, Value>();
    for (const layer of layers) {
      if (layer.source < first) continue;
      for (const key of layer.value.keys()) {
        if (merged.has(key) || (depth === 0 && key === UNSET && this.rules.hasUnset)) continue;
        const gone = goneBehind(place.gone, key);
        const from = gone.length === 0 ? first : Math.max(first, firstAfter(gone));
        // A key that a later source sets again comes where that one has it.
        if (layer.source < from) continue;
        const held: SourceValue[] = [];
        for (const { source, value } of layers) {
          const item = value.get(key);
          if (item !== undefined) held.push({ source, value: item });
        }
        const inner = {
          pointer: this.trace === null ? '' : `${pointer}/${escapeToken(key)}`,
          bytes: bytes + tokenBytes(key),
          depth: depth + 1,
          isParameters: depth === 0 && key === PARAMETERS,
          gone: inside(gone),
        };
        merged.set(key, this.mergeHeld(held, from, inner, this.meeting(place, key)));
        // The check is in the loop, so that merging ends as soon as the bounds are passed.
        if (this.count.isBeyond) throw beyondBounds();
      }
    }
    return merged;
  }

  private meeting({ depth, isParameters }: Place, name: string): Meeting {
    const strategy = depth === 1 && isParameters ? this.rules.strategies.get(name) : undefined;
    return strategy === undefined ? AS_EVER : { name, strategy };
  }
}

/** What is unset further in. */
function inside(gone: readonly Gone[]): readonly Gone[] {
  return gone.length === 0 ? gone : gone.filter(({ inner }) => inner.size > 0);
}

/** @param at the place in the list */
export function mergeKeyFault(name: string, at: number): FieldError {
  const path = `/${PARAMETERS}/${escapeToken(name)}/${at}`;
  return {
    path,
    message: 'Must be a mapping with a value of its own for the key of the list',
    code: 'merge_key',
  };
}

function isLayer(held: SourceValue): held is Layer {
  return isMapping(held.value);
}

function beyondBounds() {
  const message = `The parameters make more than ${MAX_LEAVES} leaves, or ${MAX_POINTER_BYTES} bytes of paths, together`;
  return conflict('parameter_merge_failed', message);
}
