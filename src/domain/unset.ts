/** `unset` in a parameter file: what lower scopes set, and is gone before the file's own values come. */

import type { FieldError } from '../lib/errors.ts';
import { isList } from './document-text.ts';
import { PARAMETERS } from './secrets.ts';
import { isMapping, type Mapping, type Value } from './value.ts';

export const UNSET = 'unset';
export const MAX_UNSET = 1_000;

/** A pointer in a file, with the keys that it goes through from the root of the document. */
export interface Unset {
  pointer: string;
  keys: readonly string[];
}

/** The pointers of a file. Those of another form count as absent. */
export function unsetIn(document: Mapping): Unset[] {
  return readEntries(document.get(UNSET)).flatMap((entry) => entry ?? []);
}

/** @param isDeclared tells whether the schema has a parameter of this name */
export function unsetFaults(document: Mapping, isDeclared: (name: string) => boolean): FieldError[] {
  const given = document.get(UNSET);
  if (given === undefined) return [];
  const fault = (path: string, message: string) => ({ path, message, code: 'invalid_unset' });
  if (given === null || typeof given !== 'object' || !isList(given))
    return [fault(`/${UNSET}`, 'Must be a list of JSON Pointers')];
  const faults: FieldError[] = [];
  for (const [at, entry] of readEntries(given).entries()) {
    const path = `/${UNSET}/${at}`;
    if (entry === null)
      faults.push(
        fault(path, 'Must be a JSON Pointer of a parameter, or of what is in one: /parameters/<name>'),
      );
    else if (!isDeclared(entry.keys[1] as string))
      faults.push(fault(path, 'Not a parameter of the configuration'));
  }
  if (given.length > MAX_UNSET)
    faults.push(fault(`/${UNSET}/${MAX_UNSET}`, `There are more than ${MAX_UNSET} of them`));
  return faults;
}

/** Null for each entry of another form. */
function readEntries(given: Value | undefined): (Unset | null)[] {
  if (given === null || typeof given !== 'object' || !isList(given)) return [];
  return given.slice(0, MAX_UNSET).map((entry) => {
    if (typeof entry !== 'string' || !entry.startsWith('/') || /~(?![01])/.test(entry)) return null;
    const keys = entry
      .split('/')
      .slice(1)
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    return keys[0] === PARAMETERS && keys.length > 1 ? { pointer: entry, keys } : null;
  });
}

/** What one file unsets, as a tree of keys. */
export interface Gone {
  /** The index of the file. What files before it have set is gone. */
  source: number;
  /** Whether it is gone here, and not only further in. */
  isHere: boolean;
  inner: ReadonlyMap<string, Gone>;
}

interface Growing extends Gone {
  isHere: boolean;
  inner: Map<string, Growing>;
}

/** What each of these documents unsets, for those that do. */
export function goneBy(documents: readonly Mapping[]): Gone[] {
  return documents.flatMap((document, source) => {
    const entries = unsetIn(document);
    if (entries.length === 0) return [];
    const root: Growing = { source, isHere: false, inner: new Map() };
    for (const { keys } of entries) {
      let at = root;
      for (const key of keys) {
        const next: Growing = at.inner.get(key) ?? { source, isHere: false, inner: new Map() };
        at.inner.set(key, next);
        at = next;
      }
      at.isHere = true;
    }
    return [root];
  });
}

/** What is unset behind a key, or at it. */
export function goneBehind(gone: readonly Gone[], key: string): readonly Gone[] {
  return gone.length === 0 ? gone : gone.flatMap(({ inner }) => inner.get(key) ?? []);
}

/** The first source whose value counts here, as far as these say. */
export function firstAfter(gone: readonly Gone[]): number {
  return gone.reduce((first, { isHere, source }) => (isHere ? Math.max(first, source) : first), 0);
}

/** Whether a document has the member at all. */
export function hasUnset(document: Mapping): boolean {
  return isMapping(document) && document.has(UNSET);
}
