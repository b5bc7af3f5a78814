/** Which versions a cleanup removes. */

import { DAY } from '../lib/clock.ts';
import { isPrerelease, isStable } from './version-order.ts';

export interface RetentionRule {
  /** The number of newest versions that stay, however old they are. */
  keepVersions: number;
  /** Versions younger than this many days stay, however many there are. */
  keepDays: number;
  /** Whether all published versions that are no prereleases stay. */
  keepReleaseVersions: boolean;
}

/** The settings of a configuration. Null means that the server's value counts. */
export type OwnRetention = { [K in keyof RetentionRule]: RetentionRule[K] | null } & {
  enabled: boolean | null;
};

export interface RetentionCandidate {
  version: string;
  isPublished: boolean;
  /** True if it is published, but offered to nobody. A cleanup removes it like others, and keeps nothing because of it. */
  isWithdrawn: boolean;
  /** When it was published, or made if it is a draft, in epoch milliseconds. */
  at: number;
}

export interface PlannedRemoval<T> {
  candidate: T;
  /** A text for the reader of the answer. */
  reason: string;
}

/** The rule for a configuration, in which its own values win. Null means that nothing of it is cleaned up. */
export function ruleFor(rule: RetentionRule, own: OwnRetention): RetentionRule | null {
  if (own.enabled === false) return null;
  return {
    keepVersions: own.keepVersions ?? rule.keepVersions,
    keepDays: own.keepDays ?? rule.keepDays,
    keepReleaseVersions: own.keepReleaseVersions ?? rule.keepReleaseVersions,
  };
}

/**
 * The versions of one group that a cleanup removes. They are beyond the newest `keepVersions`, at least `keepDays` old,
 * no releases that are to be kept, and not protected. Versions `inUse` are protected. Of those that are published and not
 * withdrawn, so is the newest, and the highest stable one if `main` is there.
 * @param highestFirst is the group; of several versions of the same moment the higher one counts as newer
 * @param inUse are versions that some node gets or something is pinned to
 * @param hasMain tells whether the repository has a branch `main`, which repositories of parameters do not have
 */
export function planRemovals<T extends RetentionCandidate>(
  highestFirst: readonly T[],
  rule: RetentionRule,
  { inUse, hasMain, now }: { inUse: ReadonlySet<string>; hasMain: boolean; now: number },
): PlannedRemoval<T>[] {
  const newestFirst = [...highestFirst].sort((a, b) => b.at - a.at);
  const isOffered = (candidate: T) => candidate.isPublished && !candidate.isWithdrawn;
  const atMain = highestFirst.find((candidate) => isOffered(candidate) && isStable(candidate.version));
  const needed = new Set([newestFirst.find(isOffered), hasMain ? atMain : undefined]);
  const oldest = now - rule.keepDays * DAY;
  return newestFirst
    .slice(rule.keepVersions)
    .filter((candidate) => candidate.at <= oldest && !needed.has(candidate))
    .filter(({ version }) => !inUse.has(version))
    .filter(
      (candidate) => !(rule.keepReleaseVersions && candidate.isPublished && !isPrerelease(candidate.version)),
    )
    .map((candidate) => ({ candidate, reason: reasonOf(candidate, rule) }));
}

function reasonOf({ isPublished }: RetentionCandidate, { keepVersions, keepDays }: RetentionRule): string {
  const what = isPublished ? 'Published version' : 'Draft';
  return `${what} beyond the newest ${keepVersions} and older than ${keepDays} days`;
}
