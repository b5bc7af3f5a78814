/**
 * Who pushed what, and when. What a pushed commit or tag says of its maker is a claim of whoever made it, and the server
 * rewrites neither. So it keeps an annotated tag of its own that stands on what was pushed, in a ref beside:
 * `refs/pushed/heads/draft/1.3.0` for a draft and `refs/pushed/tags/v1.3.0` for a published version. Clones do not show
 * these refs. Where a tag was pushed to be proposed, the record of the draft stands on this tag, which keeps it until the draft is
 * published by it.
 */

import { sign } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { NewTag } from '../git/printed-objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { oidOf, type RefSnapshot, type RefValue } from '../git/ref-reader.ts';
import type { PeeledMove } from '../git/refs.ts';
import { preciseTime, readTrailers, writeMessage } from '../git/trailers.ts';
import { toTimestamp } from '../lib/clock.ts';
import { creationTrailers, statedOrigin } from './draft-chain.ts';
import { NODE_TRAILER, type VersionKind } from './kinds.ts';
import type { PushRecord, VersionDetails, VersionRef } from './types.ts';

/** A record that was read. */
interface ReadRecord extends PushRecord {
  /** The id of the commit or tag that it stands on. */
  target: string;
  /** Whether that is a tag. */
  isOnTag: boolean;
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
  { pusher, pushedAt, nodeId, tag: _onWhich, ...origin }: PushRecord,
): NewTag {
  const trailers = {
    [PUSHED_AT]: toTimestamp(pushedAt),
    ...creationTrailers(origin),
    ...(nodeId !== undefined && { [NODE_TRAILER]: nodeId }),
  };
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
  const nodeId = trailers.get(NODE_TRAILER.toLowerCase());
  const on = { target: tag.object, isOnTag: tag.type === 'tag' };
  return { ...on, pusher: { name, email }, pushedAt, ...origin, ...(nodeId && { nodeId }) };
}

/**
 * The move by which a ref gets another record of its push, or none; no move where that is so already. Under the lock only.
 * @param to the id of the record, and the commit that it leads to
 */
export function recordMoves(
  { kind, refs }: { kind: VersionKind; refs: RefBackend },
  name: string,
  to: { oid: string; commit: string } | null,
): PeeledMove[] {
  if (!kind.takesPushes) return [];
  const record = pushRecordName(name);
  const from = refs.get(record);
  const oid = to?.oid ?? null;
  return from === oid ? [] : [{ name: record, from, to: oid, peeled: to?.commit ?? null }];
}

/** The refs of a repository, and what was found of each. */
interface Recorded {
  index: {
    check(name: string): { record?: string; facts: { pushed?: PushRecord } | null } | undefined;
  };
  snapshot: RefSnapshot | undefined;
}

/** What was found of snapshots, which are asked at each look. */
const strays = new WeakMap<RefSnapshot, RefValue[]>();

/**
 * Records of pushes of which the ref was never moved, or has been moved or removed by another program since. Whoever drops
 * them empties the list.
 */
export function strayRecords({ index, snapshot }: Recorded): RefValue[] {
  if (snapshot === undefined) return [];
  const known = strays.get(snapshot);
  if (known !== undefined) return known;
  const found: RefValue[] = [];
  for (const name of [...snapshot.loose.keys(), ...snapshot.packed.refs.keys()]) {
    const recorded = recordedName(name);
    if (recorded === null) continue;
    const oid = oidOf(snapshot, name);
    const check = index.check(recorded);
    const isOfAnother = check?.record === oid && check.facts !== null && check.facts.pushed === undefined;
    if (oid !== null && (check === undefined || isOfAnother)) found.push({ name, oid });
  }
  strays.set(snapshot, found);
  return found;
}

/** What the server knows of a pushed version better than its commit and its tag. */
export function pushedFacts({ status, pushed }: VersionRef): Partial<VersionDetails> {
  if (pushed === undefined) return {};
  const { createdAt, creator, pusher, pushedAt } = pushed;
  const made = { createdAt, createdBy: creator.name };
  return status === 'Draft' ? made : { ...made, publishedAt: pushedAt, publishedBy: pusher.name };
}
