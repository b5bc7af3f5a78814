/** What commits are made of, whatever they are of. */

import { damagedRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import {
  type CommitObject,
  isSigned,
  type ParsedCommit,
  type Signature,
  type TagObject,
} from './parsed-objects.ts';
import type { Person } from './types.ts';

export { type CommitObject, isSigned, type ParsedCommit, type Signature, type TagObject };

/** In whose name the server writes what nobody asked for. */
export const SERVER: Person = { name: 'Hawser', email: '' };

/** Git has no escape for the signs that delimit a name and an address, so they are left out. */
export function sign(person: Person, at: number): Signature {
  const clean = (text: string) => text.replace(/[\p{Cc}\s<>]+/gu, ' ').trim();
  return {
    name: clean(person.name) || 'unknown',
    email: clean(person.email).replaceAll(' ', ''),
    timestamp: Math.floor(at / 1_000),
    timezoneOffset: 0,
  };
}

/** `repository_damaged` when it is missing, broken or no commit, or does not say who made it. */
export async function readCommit(objects: ObjectStore, gitdir: string, oid: string): Promise<CommitObject> {
  const commit = await objects.readParsed(gitdir, oid, 'commit');
  if (commit === null || !isSigned(commit)) throw damagedRepository();
  return commit;
}
