/**
 * Versions by Semantic Versioning 2.0.0 (semver.org), without a leading `v`: what is one, and which is higher.
 * All functions but `parseVersion` and `isVersion` take versions that have passed those.
 */

import { compare, inc, parse, type SemVer } from 'semver';
import { invalidField } from '../lib/errors.ts';

/**
 * A version names refs, and a loose ref is a file: `v<version>` and what a lock or a temporary file appends
 * must fit into the 255 bytes of a file name.
 */
const MAX_VERSION_LENGTH = 200;

/** The parsed version, or null for text that is no version exactly as SemVer 2.0 spells it. */
export function parseVersion(text: string): SemVer | null {
  if (text.length > MAX_VERSION_LENGTH) return null;
  const version = parse(text);
  // The library also takes `v1.0.0`, ` =1.0.0` and the like, and answers with the cleaned form.
  if (version === null || fullText(version) !== text) return null;
  return hasExactNumbers(version) && isRefComponent(text) ? version : null;
}

export function isVersion(text: string): boolean {
  return parseVersion(text) !== null;
}

/** Precedence by SemVer 11: below 0 when `a` is lower. Build metadata does not count. */
export function compareVersions(a: string, b: string): number {
  return compare(a, b);
}

/** Whether two versions differ in nothing but build metadata, which makes them one version. */
export function sameVersion(a: string, b: string): boolean {
  return compare(a, b) === 0;
}

/**
 * The version that follows when an author names none: the next patch, `1.0.0` after `1.0.0-rc.1` or nothing.
 * Throws 400 `validation_failed` where the number would grow past what can be counted.
 */
export function nextPatch(highest: string | null): string {
  if (highest === null) return '1.0.0';
  const next = inc(highest, 'patch');
  if (next === null || !isVersion(next)) {
    throw invalidField('/version', 'No version follows the highest one; name the version');
  }
  return next;
}

/** The first dot-part of the prerelease (`beta` of `1.0.0-beta.2`), or null for a stable version. */
export function prereleaseChannelOf(version: string): string | null {
  const first = mustParse(version).prerelease[0];
  return first === undefined ? null : String(first);
}

export function majorOf(version: string): number {
  return mustParse(version).major;
}

export function isStable(version: string): boolean {
  return mustParse(version).prerelease.length === 0;
}

function mustParse(version: string): SemVer {
  const parsed = parseVersion(version);
  if (parsed === null) throw new TypeError('not a SemVer version');
  return parsed;
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

/** What SemVer allows and Git does not: git-check-ref-format(1) keeps `.lock` for itself. */
function isRefComponent(text: string): boolean {
  return !/\.lock$/i.test(text) && !text.includes('..');
}
