/** What this browser keeps of what somebody chose, such as the theme. A browser that refuses storage forgets it with the page. */

import { signal } from '@preact/signals';

/** What was chosen on this page, by key. Whoever has read a choice is shown anew when it changes. */
const chosen = signal<ReadonlyMap<string, string | null>>(new Map());

/** @returns null where nothing is kept */
export function readKept(key: string): string | null {
  const here = chosen.value.get(key);
  if (here !== undefined) return here;
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param value null: forgets it */
export function keep(key: string, value: string | null): void {
  chosen.value = new Map([...chosen.value, [key, value]]);
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The choice holds until the page is left.
  }
}
