/** Which of a configuration's published versions a node gets (api.md, "Which version a node gets"). */

import type { SemVer } from 'semver';
import { parseVersion } from './version-order.ts';

const MAX_CHANNEL_LENGTH = 64;

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
 * that are no SemVer stand at its end; they have no major version and no prerelease, so only a wish for a
 * certain major version passes them over.
 */
export function chooseVersion<T extends { version: string }>(
  publishedHighestFirst: readonly T[],
  wish: VersionWish,
): T | null {
  const channel = wish.prereleaseChannel === null ? null : channelVersion(wish.prereleaseChannel);
  return publishedHighestFirst.find(({ version }) => isAdmitted(version, wish.majorVersion, channel)) ?? null;
}

function isAdmitted(text: string, major: number | null, channel: SemVer | null): boolean {
  const version = parseVersion(text);
  if (version === null) return major === null;
  if (major !== null && version.major !== major) return false;
  if (version.prerelease.length === 0) return true;
  return channel !== null && version.comparePre(channel) >= 0;
}

/** A version that carries the channel as its prerelease: SemVer compares nothing shorter than that. */
function channelVersion(channel: string): SemVer | null {
  // A `+` would smuggle build metadata in.
  return channel.includes('+') ? null : parseVersion(`0.0.0-${channel}`);
}
