/** Which of a configuration's published versions a node gets (api.md, "Which version a node gets"). */

import type { SemVer } from 'semver';
import { majorOf, parseVersion } from './version-order.ts';

const MAX_CHANNEL_LENGTH = 64;

/** Stands for the major number of versions that have none. */
const NO_MAJOR = -1;

export interface VersionWish {
  /** Only this major version; null for any. */
  majorVersion: number | null;
  /** Prereleases too, from this one on: `beta` admits `beta`, `beta.2` and `rc`. Null for stable ones only. */
  prereleaseChannel: string | null;
}

/** Whether the text is a legal SemVer prerelease of at most 64 characters. */
export function isChannel(text: string): boolean {
  return text.length <= MAX_CHANNEL_LENGTH && channelVersion(text) !== null;
}

/**
 * The highest version that the wish admits, or null. The list holds published versions, highest first. Those
 * that are no SemVer stand at its end, newest first; the first of them is given only where no major version
 * is asked for and nothing SemVer fits.
 */
export function chooseVersion<T extends { version: string }>(
  publishedHighestFirst: readonly T[],
  { majorVersion, prereleaseChannel }: VersionWish,
): T | null {
  const list = publishedHighestFirst;
  const channel = prereleaseChannel === null ? null : channelVersion(prereleaseChannel);
  const start = majorVersion === null ? 0 : firstNotAbove(list, majorVersion);
  const end = firstNotAbove(list, majorVersion === null ? NO_MAJOR : majorVersion - 1);
  for (let at = start; at < end; at += 1) {
    const ref = list[at];
    if (ref && isAdmitted(ref.version, channel)) return ref;
  }
  return (majorVersion === null ? list[end] : null) ?? null;
}

/** Where the versions of this major number, or of lower ones, begin: by halving, as parsing takes its time. */
function firstNotAbove(list: readonly { version: string }[], major: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = majorOf(list[middle]?.version ?? '') ?? NO_MAJOR;
    if (found > major) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Asked of SemVer versions only; those without a hyphen before any build metadata are stable. */
function isAdmitted(version: string, channel: SemVer | null): boolean {
  if (!/^[^+]*-/.test(version)) return true;
  return channel !== null && (parseVersion(version)?.comparePre(channel) ?? -1) >= 0;
}

/** A version that carries the channel as its prerelease: SemVer compares nothing shorter than that. */
function channelVersion(channel: string): SemVer | null {
  // A `+` would smuggle build metadata in.
  return channel.includes('+') ? null : parseVersion(`0.0.0-${channel}`);
}
