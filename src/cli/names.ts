/** Names in place of ids: people type names, and the API takes ids. */

import { Failure } from './errors.ts';
import { didYouMean } from './nearest.ts';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return ID.test(text);
}

/**
 * Finds what is meant by its id, or by a name in any case.
 * @param namesOf each name of an item; the first is the one that is shown
 * @throws Failure where nothing has this name, or several have
 */
export function findNamed<T extends { id: string }>(
  items: readonly T[],
  wanted: string,
  kind: string,
  namesOf: (item: T) => readonly string[],
): T {
  const byId = items.find(({ id }) => id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const isMeant = (name: string) => name.toLowerCase() === wanted.toLowerCase();
  const [first, ...others] = items.filter((item) => namesOf(item).some(isMeant));
  if (first === undefined)
    throw new Failure(`There is no ${kind} "${wanted}".${didYouMean(wanted, items.flatMap(namesOf))}`);
  if (others.length > 0) throw new Failure(`Several have the name "${wanted}"; say the id of the ${kind}.`);
  return first;
}

/** Finds all of them, each once, before anything is done to one. @throws Failure */
export function findAllNamed<T extends { id: string }>(
  items: readonly T[],
  wanted: readonly string[],
  kind: string,
  namesOf: (item: T) => readonly string[],
): T[] {
  return [...new Set(wanted.map((name) => findNamed(items, name, kind, namesOf)))];
}
