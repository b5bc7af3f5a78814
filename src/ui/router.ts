/** State in the URL: filters, sort, page and tab. Reload, the way back and a pasted link show the same. */

import { signal } from '@preact/signals';
import { useLocation } from 'preact-iso';

export interface Place {
  path: string;
  query: URLSearchParams;
  /** Goes to another page of the console. */
  go(url: string): void;
  /**
   * Changes members of the query and keeps the others; null removes one.
   * @param isStep if true, the way back leads to the state before; false for what changes while somebody types
   */
  setQuery(changes: Readonly<Record<string, string | null>>, isStep?: boolean): void;
}

/** True while the program of another page is on its way. */
export const isLeaving = signal(false);

export function usePlace(): Place {
  const { url, path, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  return {
    path,
    query,
    go: (to) => route(to),
    setQuery: (changes, isStep = true) => route(changedUrl(path, query, changes), !isStep),
  };
}

/** The address of the same page with some members of the query changed. */
export function changedUrl(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | null>>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  const shown = path === '/ui' ? '/ui/' : path;
  return text === '' ? shown : `${shown}?${text}`;
}
