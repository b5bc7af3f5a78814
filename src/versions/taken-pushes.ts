/** Takes versions that were pushed, once they were looked at: their objects, the record of the push, and the ref. */

import type { ObjectStore } from '../git/objects.ts';
import type { GitOperation } from '../git/operations.ts';
import { type RefName, refNameOf } from './kinds.ts';
import type { Repository } from './repository.ts';
import { refuseSameVersion, versionExists } from './rules.ts';
import type { SortedVersions } from './sorted-versions.ts';
import { writeAll } from './taken-tags.ts';
import { ONLY_SERIES, type TakenPush, type VersionDetails } from './types.ts';
import type { VersionWriter } from './version-writer.ts';
import { draftMoved, published } from './write-conflicts.ts';

export interface PushTaker {
  repository: Repository;
  objects: ObjectStore;
  writer: VersionWriter;
  versions: SortedVersions;
  make(operation: GitOperation, name: RefName, work: () => Promise<void>): Promise<VersionDetails>;
  move(
    name: string,
    from: string | null,
    to: string | null,
    facts: { record: string | null },
  ): Promise<boolean>;
}

/** @throws HawserError conflict `version_exists`, `already_published`, `draft_changed` */
export async function takePush(taker: PushTaker, push: TakenPush): Promise<VersionDetails> {
  const { version, from, to, record } = push;
  const { repository, objects, writer, versions } = taker;
  const isDraft = 'draft' in to;
  const name = { series: ONLY_SERIES, version, status: isDraft ? 'Draft' : 'Published' } as const;
  const before = versions.get(version);
  if (before === undefined) refuseSameVersion(versions, version);
  if (before?.status === 'Published') throw isDraft ? versionExists(version) : published('already_published');
  // This comes before anything is written, because a refused push leaves no object behind.
  if (from !== undefined && from !== (before?.oid ?? null)) throw draftMoved();
  return taker.make(isDraft ? 'draft' : 'publish', name, async () => {
    await writeAll({ repository, objects }, push.objects);
    const oid = await tipOf(writer, push);
    // A tag that the server makes tells by itself who pushed.
    const recorded =
      'publish' in to
        ? null
        : await writer.writePushRecord({ oid, type: isDraft ? 'commit' : 'tag' }, record);
    if (await taker.move(refNameOf(name), isDraft ? (from ?? null) : null, oid, { record: recorded })) return;
    throw isDraft ? draftMoved() : published('already_published');
  });
}

async function tipOf(writer: VersionWriter, { version, to, record }: TakenPush): Promise<string> {
  if ('draft' in to) return to.draft;
  if ('tag' in to) return to.tag;
  const draft = { series: ONLY_SERIES, version, parent: null, draft: to.publish, pushed: record, others: [] };
  const content = { entryPoint: to.entryPoint, isPassthrough: false };
  return writer.writeTag(draft, content, { tagger: record.pusher, at: record.pushedAt });
}
