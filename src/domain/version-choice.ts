/** Which of a configuration's published versions a node gets, and which parameter files and schemas go with it. */

import { firstIndex } from '../lib/binary-search.ts';
import { comparePrereleases, type SemVer } from './semver.ts';
import { type Major, majorOf, parseVersion } from './version-order.ts';

const MAX_CHANNEL_LENGTH = 64;

/** Stands for the major number of versions that have none. */
const NO_MAJOR = -1;

export interface VersionConstraint {
  /** The major version that is admitted; null admits any. That of an assignment is a safe integer. */
  majorVersion: number | null;
  /** Admits prereleases from this one on: `beta` admits `beta`, `beta.2` and `rc`. Null admits stable versions only. */
  prereleaseChannel: string | null;
}

/** Whether the text is a legal SemVer prerelease of at most 64 characters. */
export function isChannel(text: string): boolean {
  return text.length <= MAX_CHANNEL_LENGTH && channelVersion(text) !== null;
}

/**
 * The highest version that the constraint admits, or null. The list holds published versions, highest first. Versions
 * that are no SemVer stand at its end, newest first. The first of them is given only if no major version is asked for
 * and no SemVer version fits.
 */
export function chooseVersion<T extends { version: string }>(
  publishedHighestFirst: readonly T[],
  {
    majorVersion,
    prereleaseChannel,
  }: Omit<VersionConstraint, 'majorVersion'> & { majorVersion: Major | null },
): T | null {
  const list = publishedHighestFirst;
  const channel = prereleaseChannel === null ? null : channelVersion(prereleaseChannel);
  const start = majorVersion === null ? 0 : firstIndex(list, (ref) => placeOf(ref) <= majorVersion);
  const end = firstIndex(list, (ref) => placeOf(ref) < (majorVersion ?? 0));
  for (let at = start; at < end; at += 1) {
    const ref = list[at];
    if (ref && isAdmitted(ref.version, channel)) return ref;
  }
  return (majorVersion === null ? list[end] : null) ?? null;
}

const placeOf = ({ version }: Versioned): Major => majorOf(version) ?? NO_MAJOR;

/** Takes SemVer versions only. A version without a hyphen before its build metadata is stable. */
function isAdmitted(version: string, channel: SemVer | null): boolean {
  if (!/^[^+]*-/.test(version)) return true;
  const parsed = parseVersion(version);
  return channel !== null && parsed !== null && comparePrereleases(parsed, channel) >= 0;
}

/** A version that carries the channel as its prerelease: SemVer compares nothing shorter than that. */
function channelVersion(channel: string): SemVer | null {
  // A `+` would smuggle build metadata in.
  return channel.includes('+') ? null : parseVersion(`0.0.0-${channel}`);
}

/**
 * The versions that some constraint chooses of published ones, highest first: of each major the highest, and below a prerelease
 * the highest for nodes whose channel does not admit it.
 */
export function newestVersions<T extends Versioned>(publishedHighestFirst: readonly T[]): T[] {
  const tops = new Map<Major | null, SemVer | null>();
  return publishedHighestFirst.filter(({ version }) => {
    const [major, parsed] = [majorOf(version), parseVersion(version)];
    const top = tops.get(major);
    const isNewest = top === undefined || (top && parsed && comparePrereleases(parsed, top) > 0);
    if (isNewest) tops.set(major, parsed);
    return isNewest;
  });
}

interface Versioned {
  version: string;
}

/** A node of which the own files are asked, which are those of scope Node. */
export interface FileOwner {
  nodeId: string;
  /** Whether a node of the same name was deleted before. Files that do not say whose they are may have been that one's. */
  isSuccessor: boolean;
}

/** What belongs to the node, of what was published under its name: a file belongs to the node for which it was published. */
export function ownedBy<T extends { nodeId?: string | undefined }>(
  published: readonly T[],
  { nodeId, isSuccessor }: FileOwner,
): readonly T[] {
  const isOwn = (file: T) => (file.nodeId === undefined ? !isSuccessor : file.nodeId === nodeId);
  return published.every(isOwn) ? published : published.filter(isOwn);
}

export interface ChosenFile<T> {
  file: T;
  /** Whether the file's major is lower than the configuration's. */
  isFallback: boolean;
}

/**
 * The parameter file that a scope gives. This is the highest version that the node's channel admits of the configuration
 * version's major, else of the nearest lower major, else null. A configuration version that is no SemVer has no major
 * and gets the highest of all.
 */
export function chooseParameterFile<T extends Versioned>(
  publishedHighestFirst: readonly T[],
  constraint: { configurationVersion: string; prereleaseChannel: string | null },
): ChosenFile<T> | null {
  const { prereleaseChannel } = constraint;
  const major = majorOf(constraint.configurationVersion);
  const same = chooseVersion(publishedHighestFirst, { majorVersion: major, prereleaseChannel });
  if (same !== null || major === null) return same && { file: same, isFallback: false };
  const lower = publishedHighestFirst.filter(({ version }) => (majorOf(version) ?? major) < major);
  const file = chooseVersion(lower, { majorVersion: null, prereleaseChannel });
  return file && { file, isFallback: true };
}

/**
 * The version whose schema a file of this major is checked with. This is the highest published version of the major,
 * else the highest that is not withdrawn, else the highest of it, else the same of the nearest lower major, else null.
 * @param isDraft whether the file is a draft, which may set what only a draft declares: published versions then do not go first
 */
export function chooseSchemaVersion<T extends Versioned & { isPublished: boolean; isWithdrawn: boolean }>(
  highestFirst: readonly T[],
  major: Major,
  isDraft = false,
): T | null {
  const candidates = highestFirst.filter(({ version }) => isOfMajorUpTo(version, major));
  const nearest = majorOf(candidates[0]?.version ?? '');
  const ofMajor = candidates.filter(({ version }) => majorOf(version) === nearest);
  const published = isDraft ? undefined : ofMajor.find(({ isPublished }) => isPublished);
  return published ?? ofMajor.find(({ isWithdrawn }) => !isWithdrawn) ?? ofMajor[0] ?? null;
}

/** Whether the version is a SemVer version of this major or of a lower one. */
export function isOfMajorUpTo(version: string, major: Major): boolean {
  const own = majorOf(version);
  return own !== null && own <= major;
}
