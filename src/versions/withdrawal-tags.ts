/**
 * The tags by which published versions are withdrawn. `withdrawn/v1.0.0`, or `withdrawn/Environment/prod/v1.0.0` for a
 * parameter file, is an annotated tag on the tag object of the version, its message is the reason, and its tagger is who
 * withdrew it. Stock git makes the same with `git tag -a withdrawn/v1.0.0 -m 'reason' v1.0.0`.
 */

import { showText } from '../domain/safe-path.ts';
import { sign } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { NewTag } from '../git/printed-objects.ts';
import { tidyText, withoutSignature } from '../git/trailers.ts';
import { tagNameOf, withdrawalNameOf } from './kinds.ts';
import type { VersionRef, Withdrawal, Withdrawing } from './types.ts';
import type { Flaw } from './version-objects.ts';

/** What the tag of a withdrawal says. */
export interface WithdrawalFacts extends Omit<Withdrawal, 'tag'> {
  /** The id of the tag object that it stands on. */
  target: string;
}

/** Characters of a reason that are kept. Stock git sets no limit, and the reasons stay in memory. */
const MAX_REASON = 10_000;
/** Shown where the tag cannot be read. The version stays withdrawn, because offering it again might harm nodes. */
export const UNREADABLE = { at: 0, by: 'unknown', reason: 'The tag of the withdrawal cannot be read' };

/**
 * Reads the tag that is named as the withdrawal of a version.
 * @returns null for a lightweight tag
 * @throws HawserError `repository_damaged` when the object is missing or broken
 */
export async function readWithdrawal(
  objects: ObjectStore,
  gitdir: string,
  { oid, series, version }: { oid: string; series: string; version: string },
): Promise<WithdrawalFacts | Flaw | null> {
  const tag = await objects.readParsed(gitdir, oid, 'tag');
  // `git tag withdrawn/v1.0.0 v1.0.0` leads to a tag object too, that of the version.
  if (tag === null || tag.tag.startsWith(tagNameOf(series, ''))) return null;
  const flaw = (fault: string) => ({ fault, stated: true, tag: tag.tag });
  if (tag.tag !== withdrawalNameOf(series, version))
    return flaw(`The tag is named "${showText(tag.tag)}" inside`);
  if (tag.type !== 'tag')
    return flaw(`The tag does not stand on the annotated tag ${tagNameOf(series, version)} itself`);
  const { tagger } = tag;
  if (tagger === null) return flaw('The tag does not say who made it, and when');
  const reason = tidyText(withoutSignature(tag.message).slice(0, MAX_REASON)) ?? '';
  return { target: tag.object, at: tagger.timestamp * 1_000, by: tagger.name, reason };
}

/** The tag that withdraws a published version. */
export function withdrawalTag(
  { oid, series, version }: VersionRef,
  { tagger, at, reason }: Withdrawing,
): NewTag {
  const tag = withdrawalNameOf(series, version);
  return { object: oid, type: 'tag', tag, tagger: sign(tagger, at), message: reason };
}
