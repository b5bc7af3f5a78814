/** Text that somebody has typed and not saved yet. It outlives a look at another page, and leaving the console asks first. */

import { useEffect } from 'preact/hooks';

/** A draft as it was read or saved last. */
export interface Base {
  text: string;
  isPassthrough: boolean;
  /** Null where there is no file yet. */
  etag: string | null;
}

export interface Typed {
  base: Base;
  text: string;
  isPassthrough: boolean;
  isJson: boolean;
}

/** By file. It stays in memory, because the text may hold secrets. */
const kept = new Map<string, Typed>();

export const typedBefore = (key: string): Typed | undefined => kept.get(key);

export function isDirty({ base, text, isPassthrough }: Typed): boolean {
  return isPassthrough !== base.isPassthrough || (!isPassthrough && text !== base.text);
}

/** Keeps what is typed until it is saved. */
export function useKept(key: string, typed: Typed): void {
  const dirty = isDirty(typed);
  useEffect(() => {
    if (dirty) kept.set(key, typed);
    else kept.delete(key);
  });
  useEffect(() => {
    if (!dirty) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [dirty]);
}

export function forget(key: string): void {
  kept.delete(key);
}
