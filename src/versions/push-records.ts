/**
 * Who pushed what, and when. What a pushed commit or tag says of its maker is a claim of whoever made it, and the server
 * rewrites neither. So it keeps an annotated tag of its own that stands on what was pushed, in a ref beside:
 * `refs/pushed/heads/draft/1.3.0` for a draft and `refs/pushed/tags/v1.3.0` for a published version. Clones do not show
 * these refs.
 */

import { sign } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { NewTag } from '../git/printed-objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { preciseTime, readTrailers, writeMessage } from '../git/trailers.ts';
import { toTimestamp } from '../lib/clock.ts';
import { creationTrailers, statedOrigin } from './draft-chain.ts';
import type { VersionKind } from './kinds.ts';
import type { PushRecord, VersionDetails, VersionRef } from './types.ts';

/** A record that was read. */
interface ReadRecord extends PushRecord {
  /** The id of the commit or tag that it stands on. */
  target: string;
}

const RECORDS = 'refs/pushed/';
const PUSHED_AT = 'Pushed-At';

/** The full name of the ref of the record of a version, given that of the version's own. */
export function pushRecordName(name: string): string {
  return RECORDS + name.slice('refs/'.length);
}

/** The full name of the version's ref, given that of its record; null for any other ref. */
export function recordedName(name: string): string | null {
  return name.startsWith(RECORDS) ? `refs/${name.slice(RECORDS.length)}` : null;
}

/** The tag that is the record of a push. No ref leads to it yet. */
export function pushRecordTag(
  target: { oid: string; type: 'commit' | 'tag' },
  { pusher, pushedAt, ...origin }: PushRecord,
): NewTag {
  const trailers = { [PUSHED_AT]: toTimestamp(pushedAt), ...creationTrailers(origin) };
  const message = writeMessage('pushed', trailers, null);
  const { oid: object, type } = target;
  return { object, type, tag: 'pushed', tagger: sign(pusher, pushedAt), message };
}

/**
 * @returns null for what is no record
 * @throws HawserError `repository_damaged` when the object is missing or broken
 */
export async function readPushRecord(
  objects: ObjectStore,
  gitdir: string,
  oid: string,
): Promise<ReadRecord | null> {
  const tag = await objects.readParsed(gitdir, oid, 'tag');
  if (tag === null || tag.tagger === null) return null;
  const trailers = readTrailers(tag.message);
  const origin = statedOrigin(trailers);
  if (origin === null) return null;
  const { name, email, timestamp } = tag.tagger;
  const pushedAt = preciseTime(trailers.get(PUSHED_AT.toLowerCase()), timestamp);
  return { target: tag.object, pusher: { name, email }, pushedAt, ...origin };
}

/**
 * Sets the record of the push of a ref, or removes it. Under the lock only.
 * @param to the id of the record
 * @returns whether there was another, or none
 */
export async function setPushRecord(
  { kind, refs }: { kind: VersionKind; refs: RefBackend },
  name: string,
  to: string | null,
): Promise<boolean> {
  if (!kind.takesPushes) return false;
  const record = pushRecordName(name);
  const from = refs.get(record);
  if (from === to) return false;
  await refs.move({ name: record, from, to });
  return true;
}

/** What the server knows of a pushed version better than its commit and its tag. */
export function pushedFacts({ status, pushed }: VersionRef): Partial<VersionDetails> {
  if (pushed === undefined) return {};
  const { createdAt, creator, pusher, pushedAt } = pushed;
  const made = { createdAt, createdBy: creator.name };
  return status === 'Draft' ? made : { ...made, publishedAt: pushedAt, publishedBy: pusher.name };
}
