/** Which versions a repository holds, in SemVer order, and how their refs are named. Pure. */

import { SemVer } from 'semver';
import { compareVersions, isStable, isVersion, sameVersion } from '../domain/version-order.ts';

export interface VersionRef {
  version: string;
  status: 'Draft' | 'Published';
  /** Of a draft the commit, of a published version the annotated tag. */
  oid: string;
}

/** Versions highest first by SemVer; build metadata orders only what is otherwise equal. */
export interface VersionIndex {
  readonly versions: readonly VersionRef[];
  readonly published: readonly VersionRef[];
  /** The version written exactly so. */
  get(version: string): VersionRef | undefined;
}

const DRAFT_PREFIX = 'refs/heads/draft/';
const TAG_PREFIX = 'refs/tags/v';

export function draftRefName(version: string): string {
  return DRAFT_PREFIX + version;
}

export function tagRefName(version: string): string {
  return TAG_PREFIX + version;
}

/** What a ref says by its name alone: a draft or a published version, or (null) neither. */
export function versionOfRefName(name: string): Pick<VersionRef, 'version' | 'status'> | null {
  const draft = name.startsWith(DRAFT_PREFIX);
  if (!draft && !name.startsWith(TAG_PREFIX)) return null;
  const version = name.slice(draft ? DRAFT_PREFIX.length : TAG_PREFIX.length);
  return isVersion(version) ? { version, status: draft ? 'Draft' : 'Published' } : null;
}

/** Versions highest first; build metadata orders only what is otherwise equal. */
export class SortedVersions implements VersionIndex {
  readonly versions: readonly VersionRef[];
  readonly published: readonly VersionRef[];
  private byVersion: Map<string, VersionRef> | undefined;

  constructor(refs: Iterable<VersionRef>) {
    const keyed = [...refs].map((ref) => ({ ref, order: new SemVer(ref.version) }));
    keyed.sort((a, b) => b.order.compare(a.order) || b.order.compareBuild(a.order));
    this.versions = keyed.map(({ ref }) => ref);
    this.published = this.versions.filter(({ status }) => status === 'Published');
  }

  /** The version written exactly so. */
  get(version: string): VersionRef | undefined {
    // Made on first use: most indexes are walked, never asked, and there are many of them.
    this.byVersion ??= new Map(this.versions.map((ref) => [ref.version, ref]));
    return this.byVersion.get(version);
  }

  /** The version that is the same to SemVer, which passes over build metadata. */
  findSame(version: string): VersionRef | undefined {
    const candidate = this.versions[firstNotAbove(this.versions, version)];
    return candidate && sameVersion(candidate.version, version) ? candidate : undefined;
  }

  highestPublishedBelow(version: string): VersionRef | undefined {
    let at = firstNotAbove(this.published, version);
    let ref = this.published[at];
    while (ref && sameVersion(ref.version, version)) {
      at += 1;
      ref = this.published[at];
    }
    return ref;
  }

  get highestStable(): VersionRef | undefined {
    return this.published.find(({ version }) => isStable(version));
  }

  equals(other: SortedVersions): boolean {
    return (
      this.versions.length === other.versions.length &&
      this.versions.every((ref, at) => {
        const theirs = other.versions[at];
        return ref.version === theirs?.version && ref.status === theirs.status && ref.oid === theirs.oid;
      })
    );
  }
}

/** By halving, as parsing two thousand versions for one question would take milliseconds. */
function firstNotAbove(refs: readonly VersionRef[], version: string): number {
  let low = 0;
  let high = refs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const ref = refs[middle];
    if (ref && compareVersions(ref.version, version) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
