/**
 * The versions of one series in their order: the highest first, by SemVer. Build metadata orders only versions that are
 * otherwise equal. Versions that are no SemVer stand below all others, the newest first.
 */

import { compareBuilds, comparePrecedence, type SemVer } from '../domain/semver.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import { isVersion, parseVersion, sameVersion } from '../domain/version-order.ts';
import type { LooseRollouts, RolloutRef, VersionIndex, VersionRef, Withdrawal } from './types.ts';

/** The members that decide the place of a version in the order. */
export type Placed = Pick<VersionRef, 'version' | 'createdAt'>;

interface Key {
  version: string;
  semver: SemVer | null;
  createdAt: number;
}

/** With more changes than this at once, sorting all versions is faster than placing each. */
const MANY = 16;
/** So many versions are looked up by a walk through the list before a map is made, which costs as much as many walks. */
const WALKS = 8;

type Refs = readonly VersionRef[];

const NO_LOOSE: LooseRollouts = { alone: [], unbegun: [] };

/** An instance never changes: `with` makes another. */
export class SortedVersions implements VersionIndex {
  static readonly EMPTY = new SortedVersions([], []);

  readonly versions: Refs;
  readonly published: Refs;
  readonly loose: LooseRollouts;
  private known: readonly RolloutRef[] | undefined;
  private walks = 0;
  private byVersion: Map<string, VersionRef> | undefined;
  private stable: VersionRef | null | undefined;

  private constructor(versions: Refs, published: Refs, loose = NO_LOOSE) {
    this.versions = versions;
    this.published = published;
    this.loose = loose;
  }

  get rollouts(): readonly RolloutRef[] {
    this.known ??= [...this.versions.flatMap(({ rollout }) => rollout ?? []), ...this.loose.alone];
    return this.known;
  }

  get isEmpty(): boolean {
    return this.versions.length === 0 && this.loose.alone.length === 0 && this.loose.unbegun.length === 0;
  }

  /** The same versions, with these rollouts in place of those that no version shows. */
  withLoose(loose: LooseRollouts): SortedVersions {
    return isSameLoose(this.loose, loose) ? this : new SortedVersions(this.versions, this.published, loose);
  }

  /** The same versions, but with another ref for each version in `changes`, or without it where that is null. */
  with(changes: ReadonlyMap<string, VersionRef | null>): SortedVersions {
    if (changes.size === 0) return this;
    if (changes.size > MANY) {
      const rest = this.versions.filter(({ version }) => !changes.has(version));
      const added = [...changes.values()].filter((ref) => ref !== null);
      const versions = sortHighestFirst([...rest, ...added]);
      return new SortedVersions(versions, versions.filter(isOffered), this.loose);
    }
    const [versions, published] = [[...this.versions], [...this.published]];
    for (const [version, ref] of changes) {
      place(versions, version, ref);
      place(published, version, ref && isOffered(ref) ? ref : null);
    }
    return new SortedVersions(versions, published, this.loose);
  }

  get(version: string): VersionRef | undefined {
    // Most of the many indexes are asked for a few versions only, and are then replaced by the next.
    this.walks += 1;
    if (this.walks <= WALKS) return this.versions.find((ref) => ref.version === version);
    this.byVersion ??= new Map(this.versions.map((ref) => [ref.version, ref]));
    return this.byVersion.get(version);
  }

  /** Finds the version of the same SemVer precedence (SemVer 10 ignores build metadata), or of the same name. */
  findSame(version: string): VersionRef | undefined {
    if (!isVersion(version)) return this.get(version);
    const at = firstNotAbove(this.versions, { version });
    // A version that differs in build metadata alone may stand on either side.
    return [this.versions[at], this.versions[at - 1]].find((ref) => ref && sameVersion(ref.version, version));
  }

  highestPublishedBelow(placed: Placed): VersionRef | undefined {
    let at = firstNotAbove(this.published, placed);
    let ref = this.published[at];
    while (ref && sameVersion(ref.version, placed.version)) {
      at += 1;
      ref = this.published[at];
    }
    return ref;
  }

  /** The version that a node gets without any constraint, unless that is no SemVer. */
  get highestStable(): VersionRef | undefined {
    if (this.stable === undefined) {
      const chosen = chooseVersion(this.published, { majorVersion: null, prereleaseChannel: null });
      this.stable = chosen && isVersion(chosen.version) ? chosen : null;
    }
    return this.stable ?? undefined;
  }

  equals(other: SortedVersions): boolean {
    if (this === other) return true;
    return (
      isSameLoose(this.loose, other.loose) &&
      this.versions.length === other.versions.length &&
      this.versions.every((ref, at) => {
        const theirs = other.versions[at];
        return theirs !== undefined && isSameRef(ref, theirs);
      })
    );
  }
}

/** Whether the version is published and not withdrawn. */
export function isOffered({ status, withdrawn }: Pick<VersionRef, 'status' | 'withdrawn'>): boolean {
  return status === 'Published' && withdrawn === null;
}

/** Whether nothing has changed in a version, nor in what is beside its tag. */
export function isSameRef(a: VersionRef, b: VersionRef): boolean {
  const isSame = a.name === b.name && a.oid === b.oid && a.commit === b.commit;
  const isSamePush =
    a.pushed?.pushedAt === b.pushed?.pushedAt &&
    a.pushed?.tag === b.pushed?.tag &&
    a.pushed?.pusher.name === b.pushed?.pusher.name;
  return (
    isSame && isSamePush && isSameWithdrawal(a.withdrawn, b.withdrawn) && isSameRollout(a.rollout, b.rollout)
  );
}

/** The tag says the rest, unless it could not be read before. */
function isSameWithdrawal(a: Withdrawal | null, b: Withdrawal | null): boolean {
  return a?.tag === b?.tag && a?.at === b?.at;
}

/** The commit says the rest, unless it could not be read before. */
function isSameRollout(a: RolloutRef | null, b: RolloutRef | null): boolean {
  return a?.oid === b?.oid && a?.record.createdAt === b?.record.createdAt;
}

function isSameLoose(a: LooseRollouts, b: LooseRollouts): boolean {
  const isSame = (these: readonly RolloutRef[], those: readonly RolloutRef[]) =>
    these.length === those.length && these.every((rollout, at) => isSameRollout(rollout, those[at] ?? null));
  return a === b || (isSame(a.alone, b.alone) && isSame(a.unbegun, b.unbegun));
}

/** Puts a ref at its place in the list, instead of the one of the same version. */
function place(list: VersionRef[], version: string, ref: VersionRef | null): void {
  // A version that is no SemVer has its place by a time, which may have been another.
  const before = isVersion(version)
    ? firstNotAbove(list, { version })
    : list.findIndex((other) => other.version === version);
  if (list[before]?.version === version) list.splice(before, 1);
  if (ref) list.splice(firstNotAbove(list, ref), 0, ref);
}

function sortHighestFirst(refs: readonly VersionRef[]): VersionRef[] {
  const keyed = refs.map((ref) => ({ ref, key: keyOf(ref) }));
  keyed.sort((a, b) => compareKeys(b.key, a.key));
  return keyed.map(({ ref }) => ref);
}

/** Searches by halving, because parsing two thousand versions takes milliseconds. */
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

/** The result is above 0 when `a` is the higher version. */
function compareKeys(a: Key, b: Key): number {
  if (a.semver && b.semver) return comparePrecedence(a.semver, b.semver) || compareBuilds(a.semver, b.semver);
  if (a.semver || b.semver) return a.semver ? 1 : -1;
  return a.createdAt - b.createdAt || (a.version === b.version ? 0 : a.version < b.version ? 1 : -1);
}

/** The ids of all versions and of their withdrawals. Where two are alike, nothing was made, moved or withdrawn in between. */
export function oidsOf({ versions }: VersionIndex): unknown[] {
  return versions.map(({ oid, withdrawn }) => [oid, withdrawn?.tag]);
}
