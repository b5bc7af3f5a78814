/**
 * What names a version, and which is higher. A SemVer version follows Semantic Versioning 2.0.0 (semver.org),
 * without a leading `v`. Where a configuration does not ask for SemVer, a version may have any plain name;
 * such ones stand below all SemVer ones and have no major number, no prerelease and no channel.
 * All functions but `parseVersion`, `isVersion` and `isVersionName` take versions that have passed those.
 */

import { inc, parse, type SemVer } from 'semver';
import { invalidField } from '../lib/errors.ts';

/**
 * A version names refs, and a loose ref is a file: `v<version>` and what a lock or a temporary file appends
 * must fit into the 255 bytes of a file name.
 */
const MAX_VERSION_LENGTH = 200;

const VERSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** The parsed version, or null for text that is no version exactly as SemVer 2.0 spells it. */
export function parseVersion(text: string): SemVer | null {
  if (text.length > MAX_VERSION_LENGTH) return null;
  const version = parse(text);
  // The library also takes `v1.0.0`, ` =1.0.0` and the like, and answers with the cleaned form.
  if (version === null || fullText(version) !== text) return null;
  return hasExactNumbers(version) && isRefComponent(text) ? version : null;
}

/** Whether the text is a SemVer version. */
export function isVersion(text: string): boolean {
  return parseVersion(text) !== null;
}

/** Whether the text may name a version where SemVer is not asked for; most SemVer versions pass too. */
export function isVersionName(text: string): boolean {
  return VERSION_NAME.test(text) && isRefComponent(text);
}

/**
 * Below 0 when `a` is lower: precedence by SemVer 11, which passes over build metadata, and any SemVer version
 * above any other. Of two others their age decides, which is not in their names: here they go by name, the
 * later one in the alphabet being the lower, as where their ages are equal.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parseVersion(a), parseVersion(b)];
  if (first && second) return first.compare(second);
  if (first || second) return first ? 1 : -1;
  return a === b ? 0 : a < b ? 1 : -1;
}

/** Whether two versions are one: equal, or SemVer ones that differ in nothing but build metadata. */
export function sameVersion(a: string, b: string): boolean {
  return compareVersions(a, b) === 0;
}

/**
 * The version that follows when an author names none: the next patch, `1.0.0` after `1.0.0-rc.1`, after
 * nothing, and where there are no SemVer versions yet, which the highest one tells.
 * Throws 400 `validation_failed` where the number would grow past what can be counted.
 */
export function nextPatch(highest: string | null): string {
  if (highest === null || !isVersion(highest)) return '1.0.0';
  const next = inc(highest, 'patch');
  if (next === null || !isVersion(next)) {
    throw invalidField('/version', 'No version follows the highest one; name the version');
  }
  return next;
}

/** The first dot-part of the prerelease (`beta` of `1.0.0-beta.2`); null for a stable version or no SemVer. */
export function prereleaseChannelOf(version: string): string | null {
  const first = parseVersion(version)?.prerelease[0];
  return first === undefined ? null : String(first);
}

/** The major number; null for what is no SemVer. */
export function majorOf(version: string): number | null {
  return parseVersion(version)?.major ?? null;
}

/** Whether it is a SemVer version without prerelease; any other is never stable, so `main` never follows it. */
export function isStable(version: string): boolean {
  return parseVersion(version)?.prerelease.length === 0;
}

function fullText(version: SemVer): string {
  return version.build.length === 0 ? version.version : `${version.version}+${version.build.join('.')}`;
}

/** Beyond 2^53 two numbers compare as equal that are not, and the order would no longer be one. */
function hasExactNumbers(version: SemVer): boolean {
  return version.prerelease.every(
    (part) => !/^\d+$/.test(String(part)) || Number.isSafeInteger(Number(part)),
  );
}

/** What the patterns allow and Git does not, by git-check-ref-format(1). */
function isRefComponent(text: string): boolean {
  return !/\.(?:lock)?$/i.test(text) && !text.includes('..');
}
