/**
 * The commits of one draft. The first one is the upload, and each edit of a file adds another on top of it. All of them
 * tell who made the draft and when; a commit of an edit does so in its trailers, because its author is who edited.
 */

import { type CommitObject, isSigned, type Signature, sign } from '../git/commits.ts';
import { History } from '../git/history.ts';
import type { ObjectStore } from '../git/objects.ts';
import { preciseTime, readTrailers } from '../git/trailers.ts';
import type { Person } from '../git/types.ts';
import { toTimestamp } from '../lib/clock.ts';

/** A draft with more edits than this keeps its place in history when it is published. */
const MAX_CHAIN = 1_000;

const CREATED_AT = 'Created-At';
/** As git names people: `alice <alice@example.org>`. Commits of edits have it, and tags of versions that were pushed. */
const CREATED_BY = 'Created-By';
/** On commits of edits: the commit that was pushed and that they stand on. Such commits are never moved. */
const PUSHED = 'Pushed-Commit';

/** The repository that a draft is in. */
export interface DraftSite {
  gitdir: string;
  /** The commits at which history ends. */
  shallow(): Promise<ReadonlySet<string>>;
}

/** Who made a draft, and when in epoch milliseconds. */
export interface DraftOrigin {
  createdAt: number;
  creator: Person;
}

/** @param trailers of the commit's message, by lower-case key */
export function originOf(
  trailers: ReadonlyMap<string, string>,
  author: Pick<Signature, 'name' | 'email' | 'timestamp'>,
): DraftOrigin {
  const { timestamp, name, email } = author;
  const at = trailers.get(CREATED_AT.toLowerCase());
  return statedOrigin(trailers) ?? { createdAt: preciseTime(at, timestamp), creator: { name, email } };
}

/** The origin that trailers tell in full; null where they do not. */
export function statedOrigin(trailers: ReadonlyMap<string, string>): DraftOrigin | null {
  const [, name, email] = /^([^<>]+) <([^<>]*)>$/.exec(trailers.get(CREATED_BY.toLowerCase()) ?? '') ?? [];
  const createdAt = Date.parse(trailers.get(CREATED_AT.toLowerCase()) ?? '');
  if (name === undefined || email === undefined || Number.isNaN(createdAt)) return null;
  return { createdAt, creator: { name, email } };
}

/** The trailers of a draft's first commit. */
export function firstTrailers(createdAt: number): Record<string, string> {
  return { [CREATED_AT]: toTimestamp(createdAt) };
}

/** The trailers that tell an origin in full. */
export function creationTrailers({ createdAt, creator }: DraftOrigin): Record<string, string> {
  const { name, email } = sign(creator, createdAt);
  return { ...firstTrailers(createdAt), [CREATED_BY]: `${name} <${email}>` };
}

/**
 * The trailers of the commit of an edit.
 * @param before those of the commit that it stands on, by lower-case key
 * @param pushed the id of that commit, where it came by push
 */
export function editTrailers(
  origin: DraftOrigin,
  before: ReadonlyMap<string, string>,
  pushed: string | null,
): Record<string, string> {
  const base = pushed ?? before.get(PUSHED.toLowerCase());
  return { ...creationTrailers(origin), ...(base !== undefined && { [PUSHED]: base }) };
}

/**
 * Makes history run through the versions as published, whatever was published while this was a draft: the parent of the
 * draft's first commit becomes `parent`. The edits are moved with it, and keep trees, messages, authors and committers.
 * Commits that stock git made stay where they are, and so does what stands on them.
 * @param tip the commit of the draft
 * @param published the commits of the published versions, at which the draft's own commits end at the latest
 * @returns the tip in its place
 */
export async function placeDraft(
  objects: ObjectStore,
  { gitdir, shallow }: DraftSite,
  tip: string,
  { parent, published }: { parent: string | null; published: ReadonlySet<string> },
): Promise<string> {
  const history = new History(objects, gitdir, await shallow());
  const chain: CommitObject[] = [];
  for await (const { oid, commit } of history.firstParents(tip)) {
    if (chain.length > 0 && published.has(oid)) break;
    const trailers = readTrailers(commit.message);
    const isMade = trailers.has(CREATED_AT.toLowerCase()) && !trailers.has(PUSHED.toLowerCase());
    const isOurs = isMade && commit.gpgsig === undefined;
    if (!isOurs || !isSigned(commit) || commit.parent.length > 1 || chain.length === MAX_CHAIN) return tip;
    chain.push(commit);
    if (!trailers.has(CREATED_BY.toLowerCase())) break;
  }
  if ((chain.at(-1)?.parent[0] ?? null) === parent) return tip;
  let moved = parent;
  for (const { message, tree, author, committer } of chain.reverse())
    moved = await objects.writeCommit(gitdir, {
      message,
      tree,
      author,
      committer,
      parent: moved === null ? [] : [moved],
    });
  return moved ?? tip;
}
