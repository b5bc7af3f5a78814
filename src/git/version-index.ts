/** Which versions a repository holds, in their order, and how their refs are named. Pure. */

import type { SemVer } from 'semver';
import { chooseVersion } from '../domain/version-choice.ts';
import { isVersion, isVersionName, parseVersion, sameVersion } from '../domain/version-order.ts';

export interface VersionRef {
  version: string;
  status: 'Draft' | 'Published';
  /** Of a draft the commit, of a published version the annotated tag. */
  oid: string;
  /** Only of a version that is no SemVer, which stands among its like by its age. */
  createdAt?: number;
}

/**
 * Versions highest first: by SemVer, where build metadata orders only what is otherwise equal; below them
 * those that are no SemVer, newest first.
 */
export interface VersionIndex<R extends VersionRef = VersionRef> {
  readonly versions: readonly R[];
  readonly published: readonly R[];
  /** The version written exactly so. */
  get(version: string): R | undefined;
}

/** What places a version in the order. */
export type Placed = Pick<VersionRef, 'version' | 'createdAt'>;

interface Key {
  version: string;
  semver: SemVer | null;
  createdAt: number;
}

const DRAFT_PREFIX = 'refs/heads/draft/';
const TAG_PREFIX = 'refs/tags/v';

/** Of more changes than this at once, sorting all is faster than placing each. */
const MANY = 16;

export function draftRefName(version: string): string {
  return DRAFT_PREFIX + version;
}

export function tagRefName(version: string): string {
  return TAG_PREFIX + version;
}

export function refNameOf({ version, status }: Pick<VersionRef, 'version' | 'status'>): string {
  return status === 'Draft' ? draftRefName(version) : tagRefName(version);
}

/** What a ref may be by its name: a draft or a published version, or (null) neither. */
export function versionOfRefName(name: string): Pick<VersionRef, 'version' | 'status'> | null {
  const draft = name.startsWith(DRAFT_PREFIX);
  if (!draft && !name.startsWith(TAG_PREFIX)) return null;
  const version = name.slice(draft ? DRAFT_PREFIX.length : TAG_PREFIX.length);
  if (!isVersion(version) && !isVersionName(version)) return null;
  return { version, status: draft ? 'Draft' : 'Published' };
}

/** Never changed: `with` makes another. */
export class SortedVersions<R extends VersionRef = VersionRef> implements VersionIndex<R> {
  static readonly EMPTY = new SortedVersions<never>([]);

  readonly versions: readonly R[];
  readonly published: readonly R[];
  private byVersion: Map<string, R> | undefined;

  /** Takes them as they come, highest first. */
  private constructor(highestFirst: readonly R[]) {
    this.versions = highestFirst;
    this.published = highestFirst.filter(({ status }) => status === 'Published');
  }

  /** With another ref for each of these versions, or (null) without it. */
  with(changes: ReadonlyMap<string, R | null>): SortedVersions<R> {
    if (changes.size === 0) return this;
    if (changes.size > MANY) {
      const rest = this.versions.filter(({ version }) => !changes.has(version));
      const added = [...changes.values()].filter((ref) => ref !== null);
      return new SortedVersions(sortHighestFirst([...rest, ...added]));
    }
    const versions = [...this.versions];
    for (const [version, ref] of changes) {
      const before = versions.findIndex((other) => other.version === version);
      if (before >= 0) versions.splice(before, 1);
      if (ref) versions.splice(firstNotAbove(versions, ref), 0, ref);
    }
    return new SortedVersions(versions);
  }

  get(version: string): R | undefined {
    // Made on first use: most indexes are walked, never asked, and there are many of them.
    this.byVersion ??= new Map(this.versions.map((ref) => [ref.version, ref]));
    return this.byVersion.get(version);
  }

  /** The version that is the same: to SemVer, which passes over build metadata, or else written exactly so. */
  findSame(version: string): R | undefined {
    if (!isVersion(version)) return this.get(version);
    const at = firstNotAbove(this.versions, { version });
    // Where build metadata alone tells them apart, the other may stand on either side.
    return [this.versions[at], this.versions[at - 1]].find((ref) => ref && sameVersion(ref.version, version));
  }

  highestPublishedBelow(placed: Placed): R | undefined {
    let at = firstNotAbove(this.published, placed);
    let ref = this.published[at];
    while (ref && sameVersion(ref.version, placed.version)) {
      at += 1;
      ref = this.published[at];
    }
    return ref;
  }

  /** What a node gets that asks for nothing, if that is SemVer. */
  get highestStable(): R | undefined {
    const chosen = chooseVersion(this.published, { majorVersion: null, prereleaseChannel: null });
    return chosen && isVersion(chosen.version) ? chosen : undefined;
  }

  equals(other: SortedVersions<R>): boolean {
    if (this === other) return true;
    return (
      this.versions.length === other.versions.length &&
      this.versions.every((ref, at) => {
        const theirs = other.versions[at];
        return ref.version === theirs?.version && ref.status === theirs.status && ref.oid === theirs.oid;
      })
    );
  }
}

function sortHighestFirst<R extends VersionRef>(refs: readonly R[]): R[] {
  const keyed = refs.map((ref) => ({ ref, key: keyOf(ref) }));
  keyed.sort((a, b) => compareKeys(b.key, a.key));
  return keyed.map(({ ref }) => ref);
}

/** By halving, as parsing two thousand versions for one question would take milliseconds. */
function firstNotAbove(highestFirst: readonly VersionRef[], placed: Placed): number {
  const key = keyOf(placed);
  let low = 0;
  let high = highestFirst.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const ref = highestFirst[middle];
    if (ref && compareKeys(keyOf(ref), key) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf({ version, createdAt }: Placed): Key {
  return { version, semver: parseVersion(version), createdAt: createdAt ?? 0 };
}

/** Above 0 when `a` is the higher. */
function compareKeys(a: Key, b: Key): number {
  if (a.semver && b.semver) return a.semver.compare(b.semver) || a.semver.compareBuild(b.semver);
  if (a.semver || b.semver) return a.semver ? 1 : -1;
  return a.createdAt - b.createdAt || (a.version === b.version ? 0 : a.version < b.version ? 1 : -1);
}
