/** What this browser keeps of what somebody chose, such as the theme. A browser that refuses storage forgets it with the page. */

/** @returns null where nothing is kept */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param value null: forgets it */
export function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The choice holds until the page is left.
  }
}
