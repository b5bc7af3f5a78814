/** Which rows of a list are chosen: single ones, over several pages, or all that the filter meets. */

import { useState } from 'preact/hooks';
import type { List } from './list.ts';

export interface Selection<T> {
  /** The names of the chosen rows by key; empty while all are chosen. */
  chosen: ReadonlyMap<string, string>;
  /** All that the filter meets are chosen, on every page. */
  isAll: boolean;
  count: number;
  has(row: T): boolean;
  toggle(row: T): void;
  /** Chooses all rows of this page, or none of them if all are chosen already. */
  togglePage(): void;
  chooseAll(): void;
  clear(): void;
  keyOf(row: T): string;
  nameOf(row: T): string;
}

interface State {
  /** The filter that it was made for. Another filter begins anew. */
  filter: string;
  chosen: ReadonlyMap<string, string>;
  isAll: boolean;
}

export function useSelection<T>(
  list: List<T>,
  keyOf: (row: T) => string,
  nameOf: (row: T) => string,
): Selection<T> {
  const filter = JSON.stringify(list.query);
  const none: State = { filter, chosen: new Map(), isAll: false };
  const [kept, setState] = useState<State>(none);
  const state = kept.filter === filter ? kept : none;
  const { chosen, isAll } = state;
  const choose = (entries: Iterable<readonly [string, string]>) =>
    setState({ filter, chosen: new Map(entries), isAll: false });
  const pageEntries = () => list.rows.map((row) => [keyOf(row), nameOf(row)] as const);
  const has = (row: T) => isAll || chosen.has(keyOf(row));
  return {
    chosen,
    isAll,
    count: isAll ? list.total : chosen.size,
    has,
    toggle(row) {
      // Of all, one row is left out: what stays chosen are the others of this page.
      const next = new Map(isAll ? pageEntries() : chosen);
      if (!next.delete(keyOf(row))) next.set(keyOf(row), nameOf(row));
      choose(next);
    },
    togglePage() {
      if (isAll) return choose([]);
      const isWhole = list.rows.every((row) => chosen.has(keyOf(row)));
      const next = new Map(chosen);
      for (const [key, name] of pageEntries()) {
        if (isWhole) next.delete(key);
        else next.set(key, name);
      }
      choose(next);
    },
    chooseAll: () => setState({ filter, chosen: new Map(), isAll: true }),
    clear: () => choose([]),
    keyOf,
    nameOf,
  };
}
