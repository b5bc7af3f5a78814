/**
 * The commits of one draft. The first one is the upload, and each edit of a file adds another on top of it. All of them
 * tell who made the draft and when; a commit of an edit does so in its trailers, because its author is who edited.
 */

import { type CommitObject, type Signature, sign } from '../git/commits.ts';
import { History } from '../git/history.ts';
import type { ObjectStore } from '../git/objects.ts';
import { preciseTime, readTrailers } from '../git/trailers.ts';
import type { Person } from '../git/types.ts';
import { toTimestamp } from '../lib/clock.ts';

/** A draft with more edits than this keeps its place in history when it is published. */
const MAX_CHAIN = 1_000;

const CREATED_AT = 'Created-At';
/** As git names people: `alice <alice@example.org>`. Only commits of edits have it. */
const CREATED_BY = 'Created-By';

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
  const at = trailers.get(CREATED_AT.toLowerCase());
  const [, name, email] = /^([^<>]+) <([^<>]*)>$/.exec(trailers.get(CREATED_BY.toLowerCase()) ?? '') ?? [];
  const createdAt = Date.parse(at ?? '');
  if (name !== undefined && email !== undefined && !Number.isNaN(createdAt))
    return { createdAt, creator: { name, email } };
  const { timestamp, ...creator } = author;
  return { createdAt: preciseTime(at, timestamp), creator };
}

/** The trailers of a draft's first commit. */
export function firstTrailers(createdAt: number): Record<string, string> {
  return { [CREATED_AT]: toTimestamp(createdAt) };
}

/** The trailers of the commit of an edit. */
export function editTrailers({ createdAt, creator }: DraftOrigin): Record<string, string> {
  const { name, email } = sign(creator, createdAt);
  return { ...firstTrailers(createdAt), [CREATED_BY]: `${name} <${email}>` };
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
    const isOurs = trailers.has(CREATED_AT.toLowerCase()) && commit.gpgsig === undefined;
    if (!isOurs || commit.parent.length > 1 || chain.length === MAX_CHAIN) return tip;
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
