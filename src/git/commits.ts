/** What commits are made of, whatever they are of: people, and the parent that history gives them. */

import type { CommitObject, TagObject } from 'isomorphic-git';
import { damagedRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import { readTrailers } from './trailers.ts';
import type { Person } from './types.ts';

export type { CommitObject, TagObject };

export interface Signature {
  name: string;
  email: string;
  timestamp: number;
  timezoneOffset: number;
}

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

/** `repository_damaged` when it is missing, broken or no commit. */
export async function readCommit(objects: ObjectStore, gitdir: string, oid: string): Promise<CommitObject> {
  const commit = await objects.readParsed(gitdir, oid, 'commit');
  if (commit === null) throw damagedRepository();
  return commit;
}

/**
 * The commit with `parent` as its only parent, so that history runs through the versions as published,
 * whatever was published while it was a draft. Commits that stock git made are left as they are.
 */
export async function rebaseCommit(
  objects: ObjectStore,
  gitdir: string,
  oid: string,
  parent: string | null,
): Promise<string> {
  const commit = await readCommit(objects, gitdir, oid);
  const ours = readTrailers(commit.message).has('created-at') && commit.gpgsig === undefined;
  if (!ours || commit.parent.length > 1 || (commit.parent[0] ?? null) === parent) return oid;
  const { message, tree, author, committer } = commit;
  const moved = { message, tree, author, committer, parent: parent === null ? [] : [parent] };
  return objects.writeCommit(gitdir, moved);
}
