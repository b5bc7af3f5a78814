/** Which versions a cleanup removes (api.md section 8). Pure. */

import { DAY } from '../lib/clock.ts';
import { isVersion, parseVersion } from './version-order.ts';

export interface RetentionRule {
  /** So many of the newest stay, however old. */
  keepVersions: number;
  /** Whatever is younger stays, however many there are. */
  keepDays: number;
  /** Whether all that are no prereleases stay. */
  keepReleaseVersions: boolean;
}

/** What a configuration sets for itself; null means inherited. */
export type OwnRetention = { [K in keyof RetentionRule]: RetentionRule[K] | null } & {
  enabled: boolean | null;
};

export interface RetentionCandidate {
  version: string;
  isPublished: boolean;
  /** When it was published or, of a draft, made; milliseconds. */
  at: number;
}

export interface PlannedRemoval<T> {
  candidate: T;
  /** In words, for whoever reads the answer. */
  reason: string;
}

/** The rule for a configuration: its own values win. Null: nothing of it is ever cleaned up. */
export function ruleFor(rule: RetentionRule, own: OwnRetention): RetentionRule | null {
  if (own.enabled === false) return null;
  return {
    keepVersions: own.keepVersions ?? rule.keepVersions,
    keepDays: own.keepDays ?? rule.keepDays,
    keepReleaseVersions: own.keepReleaseVersions ?? rule.keepReleaseVersions,
  };
}

/**
 * Those of one group that go: beyond the newest `keepVersions`, at least `keepDays` old, and neither a release that is
 * to be kept nor protected. Beside what is `inUse` that is the newest published one and, where `main` stands at it, the
 * highest stable published one.
 * @param highestFirst the group, where of several of one moment the higher is the newer
 * @param inUse versions that some node gets or something is pinned to
 * @param hasMain whether the repository has a branch `main`, as those of parameters have not
 */
export function planRemovals<T extends RetentionCandidate>(
  highestFirst: readonly T[],
  rule: RetentionRule,
  { inUse, hasMain, now }: { inUse: ReadonlySet<string>; hasMain: boolean; now: number },
): PlannedRemoval<T>[] {
  const newestFirst = [...highestFirst].sort((a, b) => b.at - a.at);
  const published = (candidate: T) => candidate.isPublished;
  const atMain = highestFirst.find((candidate) => candidate.isPublished && isStable(candidate.version));
  const needed = new Set([newestFirst.find(published), hasMain ? atMain : undefined]);
  const oldest = now - rule.keepDays * DAY;
  return newestFirst
    .slice(rule.keepVersions)
    .filter((candidate) => candidate.at <= oldest && !needed.has(candidate))
    .filter(({ version }) => !inUse.has(version))
    .filter((candidate) => !(rule.keepReleaseVersions && isRelease(candidate)))
    .map((candidate) => ({ candidate, reason: reasonOf(candidate, rule) }));
}

/** A version that is no SemVer cannot be told to be a prerelease, so it is none. */
function isRelease({ version, isPublished }: RetentionCandidate): boolean {
  return isPublished && (parseVersion(version)?.prerelease.length ?? 0) === 0;
}

function isStable(version: string): boolean {
  return isVersion(version) && parseVersion(version)?.prerelease.length === 0;
}

function reasonOf({ isPublished }: RetentionCandidate, { keepVersions, keepDays }: RetentionRule): string {
  const what = isPublished ? 'Published version' : 'Draft';
  return `${what} beyond the newest ${keepVersions} and older than ${keepDays} days`;
}
