/** Which parameter file a scope gives a node, and which version's schema a file is checked with (api.md section 6). */

import { chooseVersion } from './version-choice.ts';
import { majorOf } from './version-order.ts';

interface Versioned {
  version: string;
}

export interface ChosenFile<T> {
  file: T;
  /** Of a lower major than the configuration's. */
  isFallback: boolean;
}

/**
 * The highest published version of the delivered configuration version's major that the node's channel admits; where
 * there is none of that major, the highest of the nearest lower one; null where there is neither. A configuration
 * version that is no SemVer has no major, and takes the highest of all.
 */
export function chooseParameterFile<T extends Versioned>(
  publishedHighestFirst: readonly T[],
  wish: { configurationVersion: string; prereleaseChannel: string | null },
): ChosenFile<T> | null {
  const { prereleaseChannel } = wish;
  const major = majorOf(wish.configurationVersion);
  const same = chooseVersion(publishedHighestFirst, { majorVersion: major, prereleaseChannel });
  if (same !== null || major === null) return same && { file: same, isFallback: false };
  const lower = publishedHighestFirst.filter(({ version }) => (majorOf(version) ?? major) < major);
  const file = chooseVersion(lower, { majorVersion: null, prereleaseChannel });
  return file && { file, isFallback: true };
}

/**
 * The version whose schema a file of this major is checked with: the highest published one of the major, else the
 * highest of it, else the same of the nearest lower major; null where there is none.
 */
export function chooseSchemaVersion<T extends Versioned & { isPublished: boolean }>(
  highestFirst: readonly T[],
  major: number,
): T | null {
  const candidates = highestFirst.filter(({ version }) => (majorOf(version) ?? major + 1) <= major);
  const nearest = majorOf(candidates[0]?.version ?? '');
  const ofMajor = candidates.filter(({ version }) => majorOf(version) === nearest);
  return ofMajor.find(({ isPublished }) => isPublished) ?? ofMajor[0] ?? null;
}
