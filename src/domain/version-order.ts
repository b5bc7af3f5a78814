/**
 * The names of versions and their order. A SemVer version follows Semantic Versioning 2.0.0 (semver.org), without a
 * leading `v`. If a configuration does not require SemVer, a version may have any plain name. Such versions are below all
 * SemVer versions and have no major number, no prerelease and no channel.
 * All functions but `parseVersion`, `isVersion` and `isVersionName` take versions that these three have accepted.
 */

import { invalidField } from '../lib/errors.ts';
import { comparePrecedence, parseSemVer, type SemVer } from './semver.ts';

/**
 * A version names refs, and a loose ref is a file. `v<version>` and the suffix of a lock or a temporary file must fit into
 * the 255 bytes of a file name.
 */
export const MAX_VERSION_LENGTH = 200;

/**
 * The major number of a SemVer version: a number where that is exact, else a bigint. Both compare with each other by `<`,
 * and those that are equal are so by `===` and as keys of a map.
 */
export type Major = number | bigint;

const VERSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** The parsed version, or null if the text is not exactly a version of SemVer 2.0. */
export function parseVersion(text: string): SemVer | null {
  return text.length <= MAX_VERSION_LENGTH && isRefComponent(text) ? parseSemVer(text) : null;
}

/** Whether the text is a SemVer version. */
export function isVersion(text: string): boolean {
  return parseVersion(text) !== null;
}

/** What to add to a refusal of `v1.1.0`, which is how Git tags and people write it; empty for any other text. */
export function leadingVHint(text: string): string {
  return /^v/i.test(text) && isVersion(text.slice(1)) ? `; drop the v: ${text.slice(1)}` : '';
}

/** Whether the text may name a version if SemVer is not required. Most SemVer versions are accepted too. */
export function isVersionName(text: string): boolean {
  return VERSION_NAME.test(text) && isRefComponent(text);
}

/**
 * Returns a number below 0 if `a` is lower. SemVer versions follow the precedence of SemVer 11, which ignores build
 * metadata, and are above all other versions. Two other versions are ordered by their age, which their names do not tell.
 * This function treats their ages as equal: then the later name in the alphabet is the lower version.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parseVersion(a), parseVersion(b)];
  if (first && second) return comparePrecedence(first, second);
  if (first || second) return first ? 1 : -1;
  return a === b ? 0 : a < b ? 1 : -1;
}

/** Whether two versions count as one: they are equal, or are SemVer versions that differ in build metadata only. */
export function sameVersion(a: string, b: string): boolean {
  return compareVersions(a, b) === 0;
}

/**
 * The version that follows the highest one if an author names none. This is the next patch, which after `1.0.0-rc.1` is
 * `1.0.0`. If there are no SemVer versions yet it is `1.0.0`.
 * @throws HawserError `validation_failed` if the name would become too long
 */
export function nextPatch(highest: string | null): string {
  const version = highest === null ? null : parseVersion(highest);
  if (version === null) return '1.0.0';
  const { major, minor, patch, prerelease } = version;
  const next = `${major}.${minor}.${prerelease.length > 0 ? patch : BigInt(patch) + 1n}`;
  if (!isVersion(next))
    throw invalidField('/version', 'No version follows the highest one; name the version');
  return next;
}

/**
 * The versions that may follow one for the same nodes, the lowest first: the next patches. After a prerelease these would be for
 * nodes of another channel, so there they are the versions that add a number to it: `1.0.0-rc.1.1` after `1.0.0-rc.1`.
 * None follow a version that is no SemVer.
 */
export function* followingVersions(version: string): Generator<string> {
  const parsed = parseVersion(version);
  if (parsed === null) return;
  const { major, minor, patch, prerelease } = parsed;
  for (let more = 1n; ; more += 1n) {
    const next =
      prerelease.length === 0
        ? `${major}.${minor}.${BigInt(patch) + more}`
        : `${major}.${minor}.${patch}-${prerelease.join('.')}.${more}`;
    if (!isVersion(next)) return;
    yield next;
  }
}

/** The first identifier of the prerelease (`beta` in `1.0.0-beta.2`); null for a stable version or no SemVer. */
export function prereleaseChannelOf(version: string): string | null {
  return parseVersion(version)?.prerelease[0] ?? null;
}

/** The major number; null if the version is no SemVer. */
export function majorOf(version: string): Major | null {
  const parsed = parseVersion(version);
  return parsed && toMajor(parsed.major);
}

/** @param digits without leading zeros */
export function toMajor(digits: string): Major {
  const major = Number(digits);
  return Number.isSafeInteger(major) ? major : BigInt(digits);
}

/** The major number where JSON holds it exactly, else null: beyond 2^53 - 1 a reader would round it. */
export function safeMajor(major: Major | null): number | null {
  return typeof major === 'number' ? major : null;
}

/** A version that is no SemVer is not a prerelease. */
export function isPrerelease(version: string): boolean {
  return (parseVersion(version)?.prerelease.length ?? 0) > 0;
}

/** Whether it is a SemVer version without a prerelease. `main` follows stable versions only. */
export function isStable(version: string): boolean {
  return parseVersion(version)?.prerelease.length === 0;
}

/** Refuses what the patterns above allow and Git does not, by git-check-ref-format(1). */
function isRefComponent(text: string): boolean {
  return !/\.(?:lock)?$/i.test(text) && !text.includes('..');
}
