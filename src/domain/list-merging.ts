/** Lists that meet without replacing each other. */

import { isList } from './document-text.ts';
import { mergeOver } from './merge-over.ts';
import type { ListStrategy } from './merge-strategies.ts';
import { Float, isMapping, type Mapping, Secret, SecretMapping, type Value } from './value.ts';

export interface JoinedLists {
  list: readonly Value[];
  /** The places in the list of items that `byKey` cannot tell from others, in their order. */
  unkeyed: readonly number[];
}

/** The items of a value that is a list; null for any other one. Those of a list that is a secret are secrets too. */
export function listIn(value: Value): readonly Value[] | null {
  if (value === null || typeof value !== 'object') return null;
  if (isList(value)) return value;
  const opened = value instanceof Secret && value.isOpen ? value.reveal() : null;
  if (opened === null || typeof opened !== 'object' || !isList(opened)) return null;
  return opened.map((item) => sealed(item, (value as Secret).text));
}

/** @param lists the one of lowest precedence first */
export function joinLists(strategy: ListStrategy, lists: readonly (readonly Value[])[]): JoinedLists {
  if (strategy === 'append') return { list: lists.flat(), unkeyed: [] };
  if (strategy === 'unique') return { list: withoutEqual(lists.flat()), unkeyed: [] };
  return joinByKey(lists, strategy.byKey);
}

function withoutEqual(items: readonly Value[]): Value[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = exactKey(item);
    return seen.size !== seen.add(key).size;
  });
}

/** Items of one key become one at the place of the first, also two of one list, which is a fault. */
function joinByKey(lists: readonly (readonly Value[])[], member: string): JoinedLists {
  const list: Value[] = [];
  const places = new Map<string, number>();
  const unkeyed = new Set<number>();
  for (const items of lists) {
    const own = new Set<string>();
    for (const item of items) {
      const mapping = mappingIn(item);
      const key = mapping && keyIn(mapping, member);
      const place = key === null ? undefined : places.get(key);
      if (mapping === null || key === null) unkeyed.add(list.push(item) - 1);
      else if (place === undefined) places.set(key, list.push(item) - 1);
      else {
        list[place] = mergeOver(mappingIn(list[place] ?? null) ?? new Map(), mapping);
        if (own.has(key)) unkeyed.add(place);
      }
      if (key !== null) own.add(key);
    }
  }
  return { list, unkeyed: [...unkeyed].sort((a, b) => a - b) };
}

/** The places in one list of the items that `byKey` cannot tell from those before them. */
export function unkeyedIn(items: readonly Value[], member: string): number[] {
  const known = new Set<string>();
  return [...items.keys()].filter((at) => {
    const mapping = mappingIn(items[at] ?? null);
    const key = mapping && keyIn(mapping, member);
    if (key === null || known.has(key)) return true;
    known.add(key);
    return false;
  });
}

function mappingIn(item: Value): Mapping | null {
  if (isMapping(item)) return item;
  const opened = item instanceof Secret && item.isOpen ? item.reveal() : null;
  return isMapping(opened) ? (sealed(opened, (item as Secret).text) as Mapping) : null;
}

/** Null where the member is no value that could name the item. */
function keyIn(item: Mapping, member: string): string | null {
  const value = item.get(member) ?? null;
  const opened = value instanceof Secret ? (value.isOpen ? value.reveal() : null) : value;
  return opened === null || isMapping(opened) || (typeof opened === 'object' && isList(opened))
    ? null
    : exactKey(opened);
}

/** What stood in a secret, as secrets. */
function sealed(value: Value, text: string): Value {
  if (!isMapping(value)) return new Secret(text, { value });
  if (value.size === 0) return new SecretMapping(text);
  return new Map(Array.from(value, ([key, item]) => [key, sealed(item, text)]));
}

/**
 * A text that is the same for values of the same type that are equal, and for no others: `1` and `1.0` are not, `1.0` and `1.00` are. It
 * is for memory alone.
 */
function exactKey(value: Value): string {
  if (value instanceof Secret)
    return value.isOpen ? exactKey(value.reveal()) : `!${JSON.stringify(value.text)}`;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Float) return `f${value.value}`;
  if (isMapping(value)) {
    const members = [...value].map(([key, item]) => `${JSON.stringify(key)}:${exactKey(item)}`);
    return `{${members.sort().join()}}`;
  }
  return Array.isArray(value) ? `[${value.map(exactKey).join()}]` : JSON.stringify(value);
}
