/**
 * Which versions a repository has, series by series. It is held in memory only and follows each change of the refs.
 * A series whose versions did not change keeps its index object, by which readers see that nothing changed.
 */

import { isFilesKey } from '../domain/rollout.ts';
import { isVersion } from '../domain/version-order.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import type { RefSnapshot, RefValue } from '../git/ref-reader.ts';
import type { PackedRef } from '../git/refs.ts';
import { notFound } from '../lib/errors.ts';
import { type Inheritance, inheritEntryPoints, NOTHING_INHERITED } from './inherited-entry-points.ts';
import {
  BESIDE,
  type BesideStatus,
  isBesideStatus,
  parseRefName,
  refNameOf,
  tagNameOf,
  type VersionKind,
} from './kinds.ts';
import { pushRecordName, recordedName } from './push-records.ts';
import type { RefCheck, RefChecks } from './ref-checks.ts';
import { unreadableRollout } from './rollout-branch.ts';
import { isSameRef, type Placed, SortedVersions } from './sorted-versions.ts';
import {
  type LooseRollouts,
  ONLY_SERIES,
  type RolloutRef,
  type SeriesIndex,
  type VersionRef,
  type Withdrawal,
} from './types.ts';
import { UNREADABLE } from './withdrawal-tags.ts';

/** A draft branch beside the tag of its version, which a publishing that was cut off has left. */
export interface LeftOver {
  series: string;
  version: string;
  draft: RefCheck;
  tag: RefCheck;
}

/** The versions of each series at one moment. */
export interface SeriesLists extends SeriesIndex {
  of(series: string): SortedVersions;
}

type Named = Pick<VersionRef, 'series' | 'version'>;

export class RepositoryIndex implements SeriesIndex {
  private readonly kind: VersionKind;
  /** Holds the check of every ref that is named like a version. The key is its full name. */
  private readonly checks: Map<string, RefCheck>;
  /** The versions of each series by their refs alone. */
  private readonly candidates: Map<string, SortedVersions>;
  /** The candidates without those that have no file at the entry point that they inherit. */
  private readonly indexes: Map<string, SortedVersions>;
  private readonly draftsBesideTags: Map<string, LeftOver>;
  /** The checks of refs that are withdrawals or rollouts as far as they tell by themselves. The key is the full name. */
  private readonly besideTags: Map<string, RefCheck>;
  /** The full names of the refs whose objects name no entry point, where versions inherit it. */
  private readonly withoutEntryPoint: Set<string>;
  private readonly reasons: Map<string, string>;
  private inheritance: Inheritance;
  private frozen: SeriesLists | undefined;

  /** @param from has the versions that this one begins with; default: none */
  constructor(kind: VersionKind, from?: RepositoryIndex) {
    this.kind = kind;
    this.checks = new Map(from?.checks);
    this.candidates = new Map(from?.candidates);
    this.indexes = new Map(from?.indexes);
    this.draftsBesideTags = new Map(from?.draftsBesideTags);
    this.besideTags = new Map(from?.besideTags);
    this.withoutEntryPoint = new Set(from?.withoutEntryPoint);
    this.reasons = new Map(from?.reasons);
    this.inheritance = from?.inheritance ?? NOTHING_INHERITED;
  }

  of(series: string): SortedVersions {
    return this.indexes.get(series) ?? SortedVersions.EMPTY;
  }

  /** The versions of all series as they are now, which does not follow changes. */
  get snapshot(): SeriesLists {
    if (this.frozen === undefined) {
      const lists = new Map(this.indexes);
      this.frozen = { series: [...lists.keys()], of: (series) => lists.get(series) ?? SortedVersions.EMPTY };
    }
    return this.frozen;
  }

  /** The commit on which a version stands: that of the highest published one below it. */
  parentOf(series: string, placed: Placed): string | null {
    const below = this.of(series).highestPublishedBelow(placed);
    if (below?.commit === null) throw damagedRepository();
    return below?.commit ?? null;
  }

  get series(): string[] {
    return [...this.indexes.keys()];
  }

  get leftOvers(): LeftOver[] {
    const isLacking = (version: string) => this.inheritance.lacking.has(version);
    return [...this.draftsBesideTags.values()].filter(({ version }) => !isLacking(version));
  }

  /** The reasons why refs that are named like versions are none, by full name. */
  get faults(): ReadonlyMap<string, string> {
    if (this.inheritance.lacking.size === 0) return this.reasons;
    return new Map([...this.reasons, ...this.inheritance.faults]);
  }

  /**
   * The withdrawals and rollouts of versions that are not there: there is not even a tag of the version's name. A rollout with
   * files that has not begun is none of them, as it is going to.
   */
  get leftBeside(): RefValue[] {
    return [...this.besideTags.values()].filter(
      ({ named, withdrawal, rollout }) =>
        (withdrawal ?? rollout) !== null &&
        (rollout?.parameters.length ?? 0) === 0 &&
        named !== 'illegal' &&
        !this.hasTag(named),
    );
  }

  /** The refs that go with these versions: their withdrawals and rollouts, and the records of their pushes. */
  besides(versions: readonly VersionRef[]): RefValue[] {
    const records = versions.flatMap(({ name }) => {
      const record = this.checks.get(name)?.record;
      return record === undefined ? [] : [{ name: pushRecordName(name), oid: record }];
    });
    const beside = versions.flatMap((version) =>
      BESIDE.flatMap((status) => this.besideTags.get(besideName(version, status)) ?? []),
    );
    return [...beside, ...records];
  }

  check(name: string): RefCheck | undefined {
    return this.checks.get(name);
  }

  allChecks(): Iterable<RefCheck> {
    return this.checks.values();
  }

  /**
   * The entry point that a version takes from another one.
   * @throws HawserError not_found if there is no such version any more; `repository_damaged` if the other one cannot be read
   */
  requireInheritedEntryPoint(version: string): string {
    const entryPoint = this.inheritance.inherited.get(version);
    if (entryPoint !== undefined) return entryPoint;
    throw this.of(ONLY_SERIES).get(version) ? damagedRepository() : notFound('There is no such version.');
  }

  /** Maps each version that names no entry point to the published version from which it takes one. */
  entryPointSources(): Map<string, string> {
    const sources = new Map<string, string>();
    let source: string | null = null;
    for (const ref of this.of(ONLY_SERIES).versions.toReversed()) {
      if (this.inheritance.inherited.has(ref.version)) {
        if (source !== null) sources.set(ref.version, source);
      } else if (ref.status === 'Published' && this.checks.get(ref.name)?.facts) source = ref.version;
    }
    return sources;
  }

  /** Those of the loose refs that are versions, which may be packed. */
  packableRefs(loose: RefSnapshot['loose']): PackedRef[] {
    const refs: PackedRef[] = [];
    for (const [name, { oid }] of loose) {
      const commit = this.commitOf(name, oid);
      if (commit) refs.push({ name, oid, peeled: name.startsWith('refs/heads/') ? null : commit });
    }
    return refs;
  }

  /** The commit to which the ref of a version leads, or that of its withdrawal, rollout or push record; null for others. */
  commitOf(name: string, oid: string): string | null {
    const recorded = recordedName(name);
    const check = this.checks.get(recorded ?? name);
    if (recorded !== null && check?.record === oid && check.facts?.pushed) return check.facts.commit;
    if (check?.oid !== oid) return null;
    return check.facts?.commit ?? this.commitBeside(check);
  }

  /** Takes out a left-over whose draft branch has been removed. */
  removeLeftOver({ draft }: LeftOver): void {
    this.draftsBesideTags.delete(draft.name);
  }

  /** Takes out the withdrawal or the rollout of a version that is gone. Its ref has been removed. */
  removeBeside({ name }: RefValue): void {
    this.take(name, null);
  }

  /**
   * Takes in the checks of refs, null for a ref that is gone.
   * @returns whether any version came, went or changed
   */
  async apply(changed: ReadonlyMap<string, RefCheck | null>, refChecks: RefChecks): Promise<boolean> {
    const touched = new Map<string, Set<string>>();
    for (const [name, check] of changed) {
      this.take(name, check);
      const named = check?.named ?? parseRefName(this.kind, name);
      if (named === null || named === 'illegal') continue;
      const versions = touched.get(named.series) ?? new Set();
      touched.set(named.series, versions.add(named.version));
    }
    for (const [series, versions] of touched) {
      const before = this.candidates.get(series) ?? SortedVersions.EMPTY;
      const changed = before.with(this.changesOf(series, before, versions));
      const after = this.kind.hasSeries ? changed : changed.withLoose(this.looseRollouts());
      if (!after.isEmpty) this.candidates.set(series, after);
      else this.candidates.delete(series);
    }
    if (this.kind.inheritsEntryPoints) await this.inherit(refChecks);
    let isChanged = false;
    for (const series of touched.keys()) isChanged = this.install(series) || isChanged;
    return isChanged;
  }

  private take(name: string, check: RefCheck | null): void {
    if (check) this.checks.set(name, check);
    else this.checks.delete(name);
    if (check && check.fault !== null) this.reasons.set(name, check.fault);
    else this.reasons.delete(name);
    if (this.kind.inheritsEntryPoints && check?.facts?.entryPoint === null) this.withoutEntryPoint.add(name);
    else this.withoutEntryPoint.delete(name);
    const named = check?.named ?? parseRefName(this.kind, name);
    if (named === null || named === 'illegal' || !isBesideStatus(named.status)) return;
    if (check?.counts) this.besideTags.set(name, check);
    else this.besideTags.delete(name);
  }

  private hasTag({ series, version }: Named): boolean {
    return this.checks.has(refNameOf({ series, version, status: 'Published' }));
  }

  /** The commit that a withdrawal leads to, or a rollout is; null where it is that of no version. */
  commitBeside({ named, oid }: RefCheck): string | null {
    const ref = named === 'illegal' ? undefined : this.of(named.series).get(named.version);
    if (ref?.withdrawn?.tag === oid) return ref.commit;
    return this.of(ONLY_SERIES).rollouts.some((rollout) => rollout.oid === oid) ? oid : null;
  }

  private looseRollouts(): LooseRollouts {
    const [alone, unbegun]: [RolloutRef[], RolloutRef[]] = [[], []];
    for (const { named, oid, rollout } of this.besideTags.values()) {
      if (named === 'illegal' || named.status !== 'Rollout') continue;
      if (isFilesKey(named.version))
        alone.push({ oid, record: rollout ?? unreadableRollout(named.version, null) });
      else if (rollout && rollout.parameters.length > 0 && !this.hasTag(named))
        unbegun.push({ oid, record: rollout });
    }
    return { alone, unbegun };
  }

  private changesOf(series: string, before: SortedVersions, versions: Iterable<string>) {
    const changes = new Map<string, VersionRef | null>();
    for (const version of versions) {
      const next = this.refOf(series, version);
      const known = before.get(version) ?? null;
      const isSame = known === null || next === null ? known === next : isSameRef(known, next);
      if (!isSame) changes.set(version, next);
    }
    return changes;
  }

  /** A version is published where its tag counts, else a draft where its branch counts. */
  private refOf(series: string, version: string): VersionRef | null {
    const draftName = refNameOf({ series, version, status: 'Draft' });
    const tag = this.counting(refNameOf({ series, version, status: 'Published' }));
    const draft = this.counting(draftName);
    if (draft && tag?.facts) this.draftsBesideTags.set(draftName, { series, version, draft, tag });
    else this.draftsBesideTags.delete(draftName);
    const check = tag ?? draft;
    const withdrawn = this.withdrawalOf({ series, version }, tag);
    const rollout = this.rolloutOf({ series, version }, tag);
    if (check === null) return null;
    const { name, oid, facts } = check;
    const pushed = facts?.pushed && { pushed: facts.pushed };
    const owned = facts?.nodeId !== undefined && { nodeId: facts.nodeId };
    const ref = {
      name,
      series,
      version,
      oid,
      commit: facts?.commit ?? null,
      withdrawn,
      rollout,
      ...pushed,
      ...owned,
    };
    const status = tag ? 'Published' : 'Draft';
    return facts === null || isVersion(version)
      ? { ...ref, status }
      : { ...ref, status, createdAt: facts.createdAt };
  }

  private withdrawalOf(named: Named, tag: RefCheck | null): Withdrawal | null {
    const check = this.besideTag(named, 'Withdrawn', tag);
    if (check === null) return null;
    const { at, by, reason } = check.withdrawal ?? UNREADABLE;
    return { tag: check.oid, at, by, reason };
  }

  private rolloutOf(named: Named, tag: RefCheck | null): RolloutRef | null {
    const check = this.besideTag(named, 'Rollout', tag);
    if (check === null || tag === null) return null;
    return { oid: check.oid, record: check.rollout ?? unreadableRollout(named.version, tag.oid) };
  }

  /** It counts only for the version's tag as it is now, so not for a version that was made anew. */
  private besideTag(version: Named, status: BesideStatus, tag: RefCheck | null): RefCheck | null {
    const check = this.besideTags.get(besideName(version, status));
    if (check === undefined) return null;
    const { name, withdrawal, rollout } = check;
    const target = withdrawal?.target ?? rollout?.tag ?? null;
    const isElsewhere = target !== null && target !== tag?.oid;
    const what = status === 'Withdrawn' ? 'tag' : 'rollout';
    const named = tagNameOf(version.series, version.version);
    if (tag === null && this.hasTag(version)) this.reasons.set(name, `The tag ${named} is no version`);
    else if (tag !== null && isElsewhere)
      this.reasons.set(name, `The ${what} does not stand on the tag ${named} as it is now`);
    else this.reasons.delete(name);
    return tag === null || isElsewhere ? null : check;
  }

  private counting(name: string): RefCheck | null {
    const check = this.checks.get(name);
    return check?.counts ? check : null;
  }

  /** Puts the index of a series in place of the one before; gives false, and keeps that, when both are equal. */
  private install(series: string): boolean {
    const candidates = this.candidates.get(series) ?? SortedVersions.EMPTY;
    const gone = [...this.inheritance.lacking].map((version) => [version, null] as const);
    const index = candidates.with(new Map(gone));
    if (this.of(series).equals(index)) return false;
    this.frozen = undefined;
    if (!index.isEmpty) this.indexes.set(series, index);
    else this.indexes.delete(series);
    return true;
  }

  private async inherit(refChecks: RefChecks): Promise<void> {
    const { versions } = this.candidates.get(ONLY_SERIES) ?? SortedVersions.EMPTY;
    this.inheritance =
      this.withoutEntryPoint.size === 0
        ? NOTHING_INHERITED
        : await inheritEntryPoints(versions, this.checks, refChecks);
  }
}

function besideName({ series, version }: Named, status: BesideStatus): string {
  return refNameOf({ series, version, status });
}
