/** Takes versions that were pushed, once they were looked at and their objects written: the record of the push, and the ref. */

import type { GitOperation } from '../git/operations.ts';
import { type RefName, refNameOf } from './kinds.ts';
import type { RepositoryIndex } from './repository-index.ts';
import { refuseSameVersion, versionExists } from './rules.ts';
import type { SortedVersions } from './sorted-versions.ts';
import { ONLY_SERIES, type TakenPush, type VersionDetails } from './types.ts';
import type { VersionWriter } from './version-writer.ts';
import { draftMoved, published } from './write-conflicts.ts';

export interface PushTaker {
  writer: VersionWriter;
  index: RepositoryIndex;
  make(operation: GitOperation, name: RefName, work: () => Promise<void>): Promise<VersionDetails>;
  move(
    name: string,
    from: string | null,
    to: string | null,
    facts: { record: string | null },
  ): Promise<boolean>;
}

/**
 * Refuses a push that another version, or the version as it is by now, stands against.
 * @throws HawserError conflict `version_exists`, `already_published`, `draft_changed`
 */
export function requireTakeable(
  versions: SortedVersions,
  { version, from, to }: Pick<TakenPush, 'version' | 'from' | 'to'>,
): void {
  const before = versions.get(version);
  if (before === undefined) refuseSameVersion(versions, version);
  if (before?.status === 'Published')
    throw 'draft' in to ? versionExists(version) : published('already_published');
  if (from !== undefined && from !== (before?.oid ?? null)) throw draftMoved();
}

/**
 * The objects that came are in the repository already.
 * @throws HawserError as `requireTakeable`
 */
export async function takePush(taker: PushTaker, push: TakenPush): Promise<VersionDetails> {
  const { version, from, to, record } = push;
  const { writer, index } = taker;
  requireTakeable(index.of(ONLY_SERIES), push);
  const isDraft = 'draft' in to;
  const name = { series: ONLY_SERIES, version, status: isDraft ? 'Draft' : 'Published' } as const;
  return taker.make(isDraft ? 'draft' : 'publish', name, async () => {
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
