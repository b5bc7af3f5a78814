/** The versions of one configuration, composite or scope that are here, or will be once they are imported. */

import { chooseVersion, type VersionConstraint } from '../../../domain/version-choice.ts';
import { compareVersions, isVersion, sameVersion } from '../../../domain/version-order.ts';

export interface KnownVersion {
  version: string;
  status: 'Draft' | 'Published';
  isWithdrawn: boolean;
  createdAt: number;
}

export class KnownVersions {
  private readonly versions: KnownVersion[];
  /** The published ones, highest first, because each node of a fleet asks for one. Null after a change. */
  private offered: KnownVersion[] | null = null;

  constructor(versions: Iterable<KnownVersion> = []) {
    this.versions = [...versions];
  }

  /** Adds the version, or puts it in the place of the one of this name. */
  put(version: KnownVersion): void {
    const at = this.versions.findIndex((each) => each.version === version.version);
    this.versions.splice(at < 0 ? this.versions.length : at, 1, version);
    this.offered = null;
  }

  get(version: string): KnownVersion | undefined {
    return this.versions.find((each) => each.version === version);
  }

  /** Another version that counts as the same one (SemVer 10). */
  findSame(version: string): KnownVersion | undefined {
    return this.versions.find((each) => each.version !== version && sameVersion(each.version, version));
  }

  get hasOffered(): boolean {
    return this.versions.some(isOffered);
  }

  /** What a node would get, or null. */
  choose(constraint: VersionConstraint): KnownVersion | null {
    this.offered ??= this.versions.filter(isOffered).sort(highestFirst);
    return chooseVersion(this.offered, constraint);
  }
}

const isOffered = ({ status, isWithdrawn }: KnownVersion) => status === 'Published' && !isWithdrawn;

/** Versions that are no SemVer stand below all others, the newest first. */
function highestFirst(a: KnownVersion, b: KnownVersion): number {
  const [first, second] = [isVersion(a.version), isVersion(b.version)];
  if (first && second) return compareVersions(b.version, a.version);
  return Number(second) - Number(first) || b.createdAt - a.createdAt;
}
