/**
 * Starts and moves rollouts, in the name of a user or of the server. Git is written first, then the audit trail. What
 * follows from a record is found out under the lock, from the record as it is there.
 */

import { rolloutEvent } from '../domain/event-types.ts';
import { NO_COUNTS, type RolloutRecord } from '../domain/rollout.ts';
import { supersede, type Transition } from '../domain/rollout-machine.ts';
import { SERVER } from '../git/commits.ts';
import type { Person } from '../git/types.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { notFound } from '../lib/errors.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { type AuthorTools, underLock, VersionAuthor } from './author.ts';
import { tidyReason } from './rollout-messages.ts';
import { type RollingRef, requireRollable } from './rollout-rules.ts';
import { AUDITED, type ResourceKind, type Target } from './rows.ts';
import type { PublishRules } from './rules.ts';
import { type LockedRepository, ONLY_SERIES, type PlannedEntry, type RolloutRef } from './types.ts';
import { withCommit } from './unrecorded.ts';
import { type AuditChange, recordChanges } from './version-records.ts';

type Tools = Pick<AuthorTools, 'database' | 'store'>;

/** Who moves a rollout of what. The server itself has no principal. */
export type RolloutTarget<K extends ResourceKind = ResourceKind> = Omit<Target<K>, 'principal'> & {
  principal: UserPrincipal | null;
};

export interface RolloutStart {
  /** The rules for publishing, where the version is a draft. */
  rules: PublishRules;
  /** Why, for the tag of a draft and for the first commit of the rollout. */
  message?: string | undefined;
  /**
   * Makes the first record, as `beginRollout` does.
   * @param tag the id of the version's tag
   * @param publishedBy the name of the user
   */
  begin(tag: string, publishedBy: string): RolloutRecord;
}

/**
 * Rolls out a draft, which is published into its rollout, or the highest published version. The rollout of a lower version
 * ends with it.
 * @throws HawserError not_found; conflict as `requireRollable`; what publishing a draft throws
 */
export function startRollout(
  { database, store }: Tools,
  target: Target<ResourceKind>,
  version: string,
  { rules, message, begin }: RolloutStart,
): Promise<RolloutRef> {
  const { actor, principal } = target;
  return underLock({ database, store }, target, async (writer) => {
    const index = writer.index.of(ONLY_SERIES);
    const ref = index.get(version);
    if (ref === undefined) throw notFound('There is no such version.');
    const ended: AuditChange[] = [];
    // It comes first: cut off in between, nothing rolls out, and nothing goes past the rings of another rollout.
    for (const lower of requireRollable(index, ref))
      ended.push(...(await move(writer, target, lower, supersede(lower.rollout.record, version))));
    const entry = entryOf(target, 'rollout_started', { version }, null);
    const starting = (record: RolloutRecord) => ({
      record,
      message: { what: 'Started', from: null, reason: message ?? '', cause: null, counts: NO_COUNTS },
    });
    if (ref.status === 'Draft') {
      const rollout = { entry, begin: (tag: string) => starting(begin(tag, principal.username)) };
      const author = new VersionAuthor(database, target, writer);
      await author.publish(version, rules, {
        ...(message !== undefined && { message }),
        rollout,
        others: ended,
      });
    } else {
      const { publishedBy } = await store.details({ kind: target.kind, name: target.resource.name }, ref);
      writer.plan(entry);
      const started = starting(begin(ref.oid, publishedBy ?? 'unknown'));
      const by = { author: authorOf(target), at: actor.at };
      const { oid } = await writer.moveRollout(version, { ...started, ...by, expected: null });
      await recordChanges(database, target, { writer, actor }, [...ended, withCommit(entry, oid)]);
    }
    return requireRollout(writer, version).rollout;
  });
}

/**
 * Moves the rollout of a version.
 * @param next makes the transition from the record as it is; null where nothing is to be done
 * @throws HawserError not_found without such a rollout; conflict `versions_changed`, `state_changed`; what `next` throws
 */
export function moveRollout(
  { database, store }: Tools,
  target: RolloutTarget,
  version: string,
  next: (current: RolloutRef) => Awaitable<Transition | null>,
): Promise<RolloutRef> {
  const { actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const ref = requireRollout(writer, version);
    const changes = await move(writer, target, ref, await next(ref.rollout));
    if (changes.length > 0) await recordChanges(database, target, { writer, actor }, changes);
    return requireRollout(writer, version).rollout;
  });
}

/**
 * Moves a rollout while the lock is held.
 * @returns the audit entries that are to be written
 */
export async function move(
  writer: LockedRepository,
  target: RolloutTarget,
  { version, rollout: { oid: expected, record: before } }: RollingRef,
  transition: Transition | null,
): Promise<AuditChange[]> {
  if (transition === null) return [];
  const { record, what, from, to, reason, cause } = transition;
  const event = rolloutEvent(before, record);
  const details = { version, what, from, to, reason: tidyReason(reason), event };
  const entry = entryOf(target, 'rollout_moved', details, expected);
  writer.plan(entry);
  // Those of the step that was open, also where another one has opened.
  const counts = record.steps[before.step]?.counts ?? NO_COUNTS;
  const message = { what, from, reason, cause, counts };
  const by = { author: authorOf(target), at: target.actor.at };
  const { oid } = await writer.moveRollout(version, { record, message, ...by, expected });
  return [withCommit(entry, oid)];
}

function requireRollout(writer: LockedRepository, version: string): RollingRef {
  const ref = writer.index.of(ONLY_SERIES).get(version);
  if (!ref?.rollout) throw notFound('There is no such rollout.');
  return { ...ref, rollout: ref.rollout };
}

function authorOf({ principal }: RolloutTarget): Person {
  return principal === null ? SERVER : { name: principal.username, email: principal.email };
}

/** A backup reads version and commit of these entries (`operations/backup/recorded-versions.ts`). */
function entryOf(
  { kind, resource: { id: resourceId }, actor }: RolloutTarget,
  what: 'rollout_started' | 'rollout_moved',
  details: Record<string, unknown>,
  replaces: string | null,
): PlannedEntry {
  return { actor, resourceId, action: `${AUDITED[kind]}.${what}`, details, replaces };
}
