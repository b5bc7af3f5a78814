/**
 * Takes published versions back, and offers them again, in the name of a user, and tells before what that would do. Git is
 * written first, then the audit trail.
 */

import { haltByWithdrawal } from '../domain/rollout-machine.ts';
import { conflict, notFound } from '../lib/errors.ts';
import type { FleetTools } from '../resolve/fleet-tasks.ts';
import type { WithdrawalEffect } from '../resolve/withdrawal-effect.ts';
import { readableComposites } from '../security/rights.ts';
import { type AuthorTools, underLock } from '../versions/author.ts';
import { isUnreadable } from '../versions/rollout-branch.ts';
import { rolloutBlocker } from '../versions/rollout-rules.ts';
import { move } from '../versions/rollouts.ts';
import { AUDITED, notFoundIfDeleted, type ResourceKind, type Target } from '../versions/rows.ts';
import {
  type LockedRepository,
  ONLY_SERIES,
  type PlannedEntry,
  type VersionDetails,
} from '../versions/types.ts';
import { recordChanges } from '../versions/version-records.ts';

type Tools = Pick<AuthorTools, 'database' | 'store'>;

/**
 * Withdraws a published version, which ends its rollout. One that is withdrawn already stays as it is, with its first reason.
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
  const { principal, actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const before = writer.index.of(ONLY_SERIES).get(version);
    const tagger = { name: principal.username, email: principal.email };
    const details = { version, commit: before?.commit, reason };
    const entry = plan(writer, target, { what: 'version_withdrawn', details });
    const made = await writer.withdraw(version, { tagger, at: actor.at, reason });
    if (before === undefined || before.withdrawn) return made;
    const { rollout } = before;
    const halt = rollout && !isUnreadable(rollout.record) ? haltByWithdrawal(rollout.record) : null;
    const halted = rollout && (await move(writer, target, { ...before, rollout }, halt));
    await recordChanges(database, target, { writer, actor }, [entry, ...(halted ?? [])]);
    return made;
  });
}

/**
 * Offers a withdrawn version again.
 * @throws HawserError not_found without such a version, and for one that is not withdrawn; conflict `versions_changed`, or
 *   `rollout_running` while a lower version rolls out
 */
export function offerVersionAgain(
  { database, store }: Tools,
  target: Target<ResourceKind>,
  version: string,
): Promise<void> {
  const { actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const index = writer.index.of(ONLY_SERIES);
    const blocker = rolloutBlocker(index, version);
    if (blocker !== null) throw blocker;
    const { commit } = index.get(version) ?? {};
    const entry = plan(writer, target, { what: 'version_offered_again', details: { version, commit } });
    await writer.offerAgain(version);
    await recordChanges(database, target, { writer, actor }, [entry]);
  });
}

interface Plan {
  what: 'version_withdrawn' | 'version_offered_again';
  details: Record<string, unknown>;
}

function plan(
  writer: LockedRepository,
  { kind, resource: { id: resourceId }, actor }: Target<ResourceKind>,
  { what, details }: Plan,
): PlannedEntry {
  const entry = { actor, resourceId, action: `${AUDITED[kind]}.${what}`, details } as const;
  writer.plan(entry);
  return entry;
}

/**
 * What withdrawing a version would do. It names no composite and no node that the caller may not read.
 * @throws HawserError not_found without such a version; conflict `not_published` for a draft
 */
export async function withdrawalEffect(
  { database, store, questions }: FleetTools,
  { kind, resource: { id, name }, principal }: Omit<Target<ResourceKind>, 'actor'>,
  version: string,
): Promise<WithdrawalEffect> {
  return notFoundIfDeleted(database, kind, id, async () => {
    const ref = (await store.versions({ kind, name })).get(version);
    if (ref === undefined) throw notFound('No such version');
    if (ref.status !== 'Published') throw conflict('not_published', 'The version is a draft');
    const question = { assigned: { kind, id, name }, version };
    const effect = await questions.run(principal.userId, 'withdrawalEffect', question);
    const readable = await readableComposites(database.read, principal);
    return {
      ...effect,
      pinnedNodes: principal.permissions.has('nodes.read') ? effect.pinnedNodes : [],
      pinnedBy: effect.pinnedBy.filter(({ compositeName }) => readable.has(compositeName)),
    };
  });
}
