/** Takes published versions back, and offers them again, in the name of a user. Git is written first, then the audit trail. */

import { type AuthorTools, underLock } from './author.ts';
import { AUDITED, type ResourceKind, type Target } from './rows.ts';
import { ONLY_SERIES, type VersionDetails } from './types.ts';
import { recordChanges } from './version-records.ts';

type Tools = Pick<AuthorTools, 'database' | 'store'>;

/**
 * Withdraws a published version. One that is withdrawn already stays as it is, with its first reason.
 * @param reason as `tidyText` leaves it
 * @throws HawserError not_found without such a version; conflict `not_published` for a draft, `versions_changed`, or
 *   `in_use` while a tag `withdrawn` is in the way
 */
export function withdrawVersion(
  { database, store }: Tools,
  target: Target<ResourceKind>,
  version: string,
  reason: string,
): Promise<VersionDetails> {
  const { kind, principal, actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const before = writer.index.of(ONLY_SERIES).get(version)?.withdrawn;
    const tagger = { name: principal.username, email: principal.email };
    const made = await writer.withdraw(version, { tagger, at: actor.at, reason });
    if (before) return made;
    const details = { version, commit: made.commit, reason };
    const action = `${AUDITED[kind]}.version_withdrawn` as const;
    await recordChanges(database, target, { writer, actor }, [{ action, details }]);
    return made;
  });
}

/**
 * Offers a withdrawn version again.
 * @throws HawserError not_found without such a version, and for one that is not withdrawn; conflict `versions_changed`
 */
export function offerVersionAgain(
  { database, store }: Tools,
  target: Target<ResourceKind>,
  version: string,
): Promise<void> {
  const { kind, actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const { commit } = await writer.offerAgain(version);
    const action = `${AUDITED[kind]}.version_offered_again` as const;
    await recordChanges(database, target, { writer, actor }, [{ action, details: { version, commit } }]);
  });
}
