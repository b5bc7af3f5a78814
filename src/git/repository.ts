/** The repository of a configuration or composite in memory: its versions, `main`, and its draft branches. */

import { allSettled } from '../lib/awaitable.ts';
import { notFound } from '../lib/errors.ts';
import { damagedRepository, guardDisk } from './disk-errors.ts';
import { History, readShallow, removeRefs } from './history.ts';
import { LoadedRepository, MAX_LOOSE, type RepositoryTools } from './loaded-repository.ts';
import { MAIN, oidOf, type RefSnapshot } from './ref-reader.ts';
import { needsTidying, packableRefs, type RefState, readRefState } from './ref-state.ts';
import { deleteRef, packRefs, updateRef } from './refs.ts';
import type { RepositoryRef, VersionDetails, VersionRef } from './types.ts';
import { VersionChecks } from './version-checks.ts';
import { draftRefName, refNameOf, type SortedVersions } from './version-index.ts';
import { isContent } from './version-objects.ts';

const NO_FAULTS: ReadonlyMap<string, string> = new Map();

export class Repository extends LoadedRepository<SortedVersions> {
  private readonly checks: VersionChecks;
  private state: RefState | undefined;
  private started = 0;
  private installed = 0;

  constructor(tools: RepositoryTools, ref: RepositoryRef, gitdir: string) {
    super(tools, ref, gitdir);
    this.checks = new VersionChecks(tools, ref.kind, gitdir);
  }

  get known(): SortedVersions | undefined {
    return this.state?.index;
  }

  get untidy(): boolean {
    return this.state !== undefined && needsTidying(this.state);
  }

  /**
   * Makes `main` and the draft branches what the published versions demand: after each publishing, and for one
   * that a crash cut short. A failure is logged: the versions are what they are.
   */
  async tidy(): Promise<boolean> {
    const { state } = this;
    if (!state || !needsTidying(state)) return false;
    const { leftOvers, main, stableCommit } = state;
    try {
      const isBehind = stableCommit !== null && stableCommit !== main;
      const work = isBehind ? [updateRef(this.folder, MAIN, main, stableCommit)] : [];
      // At once: a flush takes its time.
      await allSettled([...work, this.dropDrafts(leftOvers)]);
      if (this.state === state) this.state = { ...state, main: stableCommit ?? main, leftOvers: [] };
      return true;
    } catch (error) {
      this.warn(error, 'could not tidy the refs of a repository');
      return false;
    }
  }

  private async dropDrafts(drafts: readonly VersionRef[]): Promise<boolean> {
    for (const draft of drafts) await deleteRef(this.folder, draftRefName(draft.version), draft.oid);
    return true;
  }

  async pack(): Promise<void> {
    const refs = this.state ? packableRefs(this.state) : [];
    if (refs.length > MAX_LOOSE / 2) await packRefs(this.folder, refs);
  }

  /** The commit of a version in the index; `repository_damaged` when that could not be found out. */
  commitOf(ref: VersionRef): string {
    const commit = this.state?.looks.get(refNameOf(ref))?.facts?.commit;
    if (commit === undefined) throw damagedRepository();
    return commit;
  }

  /** By version, of those that name no entry point themselves, the published one that they take it from. */
  lenders(): Map<string, string> {
    const lenders = new Map<string, string>();
    if (!this.state) return lenders;
    const { index, inherited, looks } = this.state;
    let lender: string | null = null;
    for (const ref of index.versions.toReversed()) {
      const { version, status } = ref;
      if (inherited.has(version)) {
        if (lender !== null) lenders.set(version, lender);
      } else if (status === 'Published' && looks.get(refNameOf(ref))?.facts) lender = version;
    }
    return lenders;
  }

  /**
   * Removes published versions, under the lock only. Drafts and other branches that grew from one of them keep
   * their commits; their history begins anew.
   */
  async removePublished(versions: readonly VersionRef[]): Promise<void> {
    const { fs, gitdir } = this.folder;
    const gone = new Set(versions.map(refNameOf));
    const removed = new Set(versions.map((ref) => this.commitOf(ref)));
    const history = new History(this.tools.objects, gitdir, await readShallow(fs, gitdir));
    const boundaries = await history.boundaries(this.tipsWithout(gone), removed);
    const refs = versions.map((ref) => ({ name: refNameOf(ref), oid: ref.oid }));
    await removeRefs(this.folder, boundaries, refs);
  }

  async details(ref: VersionRef): Promise<VersionDetails> {
    const { version, status } = ref;
    const content = await this.noting(refNameOf(ref), () =>
      this.tools.versions.read(this.folder.gitdir, ref),
    );
    if (!isContent(content)) throw notFound('There is no such version.');
    const { stated: _stated, tag: _tag, passthrough: _passthrough, ...details } = content;
    return { version, status, ...details, entryPoint: content.entryPoint ?? (await this.inherited(version)) };
  }

  protected get snapshot(): RefSnapshot | undefined {
    return this.state?.snapshot;
  }

  protected get faults(): ReadonlyMap<string, string> {
    return this.state?.faults ?? NO_FAULTS;
  }

  protected async read(doubted: ReadonlySet<string>): Promise<SortedVersions> {
    this.started += 1;
    const turn = this.started;
    const { fs } = this.tools;
    const tools = { fs, checks: this.checks, damage: this.damage };
    const state = await guardDisk(() => readRefState(tools, this.folder.gitdir, this.state, doubted));
    // Of two readings at once the one that began later knows more, whichever ends first.
    if (turn < this.installed) return (this.state ?? state).index;
    this.installed = turn;
    this.install(state);
    return state.index;
  }

  protected drop(): void {
    this.state = undefined;
    // A reading still under way must not bring it back.
    this.started += 1;
    this.installed = this.started;
  }

  private async inherited(version: string): Promise<string> {
    await this.load();
    const entryPoint = this.state?.inherited.get(version);
    if (entryPoint !== undefined) return entryPoint;
    // Either the ref has gone meanwhile, or the version that would tell cannot be read.
    throw this.state?.index.get(version) ? damagedRepository() : notFound('There is no such version.');
  }

  /** Where the refs lead to, but for those of these names: versions by their commits, others by what they name. */
  private tipsWithout(names: ReadonlySet<string>): string[] {
    const { snapshot, looks } = this.state ?? {};
    if (!snapshot || !looks) return [];
    const all = new Set([...snapshot.loose.keys(), ...snapshot.packed.refs.keys()]);
    const kept = [...all].filter((name) => !names.has(name));
    return kept.flatMap((name) => looks.get(name)?.facts?.commit ?? oidOf(snapshot, name) ?? []);
  }

  private install(state: RefState): void {
    const before = this.state?.index;
    this.state = state;
    this.warnOfFaults();
    if (!before || before === state.index) return;
    this.owed = true;
    const isGone = ({ version }: VersionRef) => state.index.get(version) === undefined;
    if (this.damage.names.size > 0 && before.versions.some(isGone)) this.forgiveBlobs();
  }
}
