/** The repository of a configuration's parameters in memory. One that is not on the disk is an empty one. */

import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { HawserError, notFound } from '../lib/errors.ts';
import { removeRefs } from './deletion.ts';
import { damagedRepository, guardDisk, missingRepository } from './disk-errors.ts';
import { History } from './history.ts';
import { LoadedRepository, MAX_LOOSE } from './loaded-repository.ts';
import type { PackedRef } from './packed-refs.ts';
import { ParameterChecks, type ParameterLook } from './parameter-checks.ts';
import { type LeftOver, ParameterVersions } from './parameter-index.ts';
import { contentPaths, parseParameterRef, scopePath } from './parameter-refs.ts';
import type { ParameterScope, ParameterVersionRef } from './parameter-types.ts';
import { changedRefs, oidOf, type RefSnapshot, readSnapshot } from './ref-snapshot.ts';
import { deleteRef, packRefs } from './refs.ts';
import { type ParameterTools, ScopeTypeBranch } from './scope-type-branch.ts';
import { readShallow } from './shallow.ts';
import type { RepositoryRef } from './types.ts';
import { isContent, type VersionContent } from './version-objects.ts';

const CONCURRENT_CHECKS = 16;
const NO_FAULTS: ReadonlyMap<string, string> = new Map();

interface State {
  index: ParameterVersions;
  /** Undefined: there is no repository. */
  snapshot: RefSnapshot | undefined;
}

export class ParameterRepository extends LoadedRepository<ParameterVersions> {
  private readonly checks: ParameterChecks;
  private readonly branch: ScopeTypeBranch;
  /** Tags made here that the branch has yet to record, and where it stood before each. */
  private readonly unrecorded = new Map<string, string | null>();
  private state: State | undefined;
  /** One reading after the other, as each changes the index in place. */
  private lastReading: Promise<unknown> = Promise.resolve();
  private dropped = 0;

  constructor(tools: ParameterTools, ref: RepositoryRef, gitdir: string) {
    super(tools, ref, gitdir);
    this.checks = new ParameterChecks(tools, gitdir, this.damage);
    this.branch = new ScopeTypeBranch(tools, this.folder);
  }

  get known(): ParameterVersions | undefined {
    return this.state?.index;
  }

  override get absent(): boolean {
    return this.state !== undefined && this.state.snapshot === undefined;
  }

  get untidy(): boolean {
    return this.state?.index.hasLeftOvers ?? false;
  }

  /** Before a tag is given its ref: the branch cannot have recorded it yet. */
  async announce(scope: ParameterScope, tag: string): Promise<void> {
    this.unrecorded.set(tag, this.branch.tip(scope));
  }

  /**
   * Ends what publishings began: a commit on the branch of the scope type, then the draft branch goes. Within a
   * type in the order of publishing, and none before its forerunner, so that a record is not looked for in vain.
   */
  async tidy(): Promise<boolean> {
    const { state } = this;
    if (!state?.index.hasLeftOvers) return false;
    const types = new Map<string, LeftOver[]>();
    for (const left of state.index.leftOvers) {
      types.set(left.scope.scopeType, [...(types.get(left.scope.scopeType) ?? []), left]);
    }
    let settled = false;
    for (const lefts of types.values()) {
      try {
        await this.tidyType(state.index, lefts);
        settled = true;
      } catch (error) {
        this.warn(error, 'could not tidy the refs of a repository');
      }
    }
    return settled;
  }

  async pack(): Promise<void> {
    const refs: PackedRef[] = [];
    for (const [name, { oid }] of this.snapshot?.loose ?? []) {
      const look = this.state?.index.look(name);
      if (!look?.facts || look.oid !== oid) continue;
      refs.push({ name, oid, peeled: name.startsWith('refs/tags/') ? look.facts.commit : null });
    }
    if (refs.length > MAX_LOOSE / 2) await packRefs(this.folder, refs);
  }

  /** `repository_damaged` when any object of the version but its file is missing or broken. */
  async content(ref: ParameterVersionRef): Promise<VersionContent> {
    const named = parseParameterRef(ref.name);
    if (named === null || named === 'illegal') throw notFound('There is no such version.');
    const { gitdir } = this.folder;
    const content = await this.noting(ref.name, () =>
      this.tools.versions.read(gitdir, ref, contentPaths(named.scope)),
    );
    if (!isContent(content)) throw notFound('There is no such version.');
    return content;
  }

  /**
   * Removes versions of files, drafts and published ones, under the lock only. What is kept of their scopes and on
   * the branches of their scope types keeps its commits; history ends where a removed version would follow.
   */
  async remove(index: ParameterVersions, refs: readonly ParameterVersionRef[]): Promise<void> {
    const { fs, gitdir } = this.folder;
    const history = new History(this.tools.objects, gitdir, await readShallow(fs, gitdir));
    const names = new Set(refs.map(({ name }) => name));
    const versions = scopesOf(refs).flatMap((scope) => index.versions(scope));
    const tips = versions.flatMap(({ name, commit }) => (names.has(name) ? [] : (commit ?? [])));
    const removed = new Set(refs.flatMap(({ commit }) => commit ?? []));
    const ends = await history.boundaries(tips, removed);
    const keptTags = new Set<string>();
    for (const { name, oid } of index.allLooks()) if (!names.has(name)) keptTags.add(oid);
    const published = scopesOf(refs.filter(({ status }) => status === 'Published'));
    for (const scope of new Map(published.map((each) => [each.scopeType, each])).values()) {
      const end = await this.branch.boundary(scope, history, keptTags);
      if (end !== null) ends.push(end);
    }
    await removeRefs(this.folder, ends, refs);
  }

  protected get snapshot(): RefSnapshot | undefined {
    return this.state?.snapshot;
  }

  protected get faults(): ReadonlyMap<string, string> {
    return this.state?.index.faults ?? NO_FAULTS;
  }

  protected override get isCurrent(): boolean {
    return this.absent ? !this.isThere : super.isCurrent;
  }

  protected read(doubted: ReadonlySet<string>): Promise<ParameterVersions> {
    const reading = this.lastReading.then(() => guardDisk(() => this.readNow(doubted)));
    this.lastReading = reading.catch(() => undefined);
    return reading;
  }

  protected drop(): void {
    this.state = undefined;
    this.dropped += 1;
    this.unrecorded.clear();
  }

  private get isThere(): boolean {
    return this.folder.fs.lstatNow(this.folder.gitdir) !== undefined;
  }

  private async readNow(doubted: ReadonlySet<string>): Promise<ParameterVersions> {
    const { dropped } = this;
    const before = this.state;
    const snapshot = await this.readRefs(before?.snapshot);
    // Of a repository that came or went meanwhile nothing is known any more.
    const base = before && (before.snapshot === undefined) === (snapshot === undefined) ? before : undefined;
    const index = base?.index ?? new ParameterVersions();
    const looks = snapshot ? await this.lookAt(snapshot, base?.snapshot, doubted) : new Map();
    if (dropped !== this.dropped) return index;
    const changed = index.apply(looks) || (before !== undefined && base === undefined);
    this.state = { index, snapshot };
    for (const [name, look] of looks) if (look === null) this.damage.cured(name);
    if (snapshot) await this.checks.save(() => index.allLooks());
    this.warnOfFaults();
    if (!before || !changed) return index;
    this.owed = true;
    if ([...looks.values()].includes(null)) this.forgiveBlobs();
    return index;
  }

  /** Undefined where there is no repository, which only the folder of them all can tell for certain. */
  private async readRefs(previous: RefSnapshot | undefined): Promise<RefSnapshot | undefined> {
    const { fs, gitdir } = this.folder;
    try {
      return await readSnapshot(fs, gitdir, previous);
    } catch (error) {
      if (!(error instanceof HawserError) || error.code !== 'repository_missing') throw error;
      if (this.isThere) throw damagedRepository(error);
      if (fs.lstatNow(dirname(gitdir)) === undefined) throw missingRepository(error);
      return undefined;
    }
  }

  private async lookAt(
    snapshot: RefSnapshot,
    previous: RefSnapshot | undefined,
    doubted: ReadonlySet<string>,
  ): Promise<Map<string, ParameterLook | null>> {
    await this.checks.load();
    const looks = new Map<string, ParameterLook | null>();
    const reads = pLimit(CONCURRENT_CHECKS);
    const visits: Promise<void>[] = [];
    for (const name of [...changedRefs(previous, snapshot), ...doubted]) {
      const named = parseParameterRef(name);
      if (named === null) continue;
      const oid = oidOf(snapshot, name);
      const known =
        oid === null ? null : doubted.has(name) ? undefined : this.checks.known({ name, oid, named });
      if (known !== undefined) looks.set(name, known);
      else if (oid !== null) {
        const visit = reads(() => this.checks.look({ name, oid, named }));
        visits.push(visit.then((look) => void looks.set(name, look)));
      }
    }
    await Promise.all(visits);
    return looks;
  }

  private async tidyType(index: ParameterVersions, lefts: readonly LeftOver[]): Promise<void> {
    for (const left of await this.inOrder(lefts)) {
      const { draft, tag } = left;
      await this.branch.record(left, this.unrecorded.get(tag.oid));
      await deleteRef(this.folder, draft.name, draft.oid);
      index.settle(left);
      this.unrecorded.delete(tag.oid);
    }
  }

  private async inOrder(lefts: readonly LeftOver[]): Promise<readonly LeftOver[]> {
    if (lefts.length < 2) return lefts;
    const { gitdir } = this.folder;
    const dated = lefts.map(async (left) => {
      const ref = { status: 'Published', oid: left.tag.oid } as const;
      const content = await this.tools.versions.read(gitdir, ref, contentPaths(left.scope));
      return { left, at: isContent(content) ? (content.publishedAt ?? 0) : 0 };
    });
    return (await Promise.all(dated)).sort((a, b) => a.at - b.at).map(({ left }) => left);
  }
}

/** Each once. */
function scopesOf(refs: readonly ParameterVersionRef[]): ParameterScope[] {
  const scopes = new Map<string, ParameterScope>();
  for (const { name } of refs) {
    const named = parseParameterRef(name);
    const scope = named === null || named === 'illegal' ? null : named.scope;
    if (scope !== null) scopes.set(scopePath(scope), scope);
  }
  return [...scopes.values()];
}
