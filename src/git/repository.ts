/** The repository of a configuration or composite in memory: its versions, `main`, and its draft branches. */

import { notFound } from '../lib/errors.ts';
import { damagedRepository, guardDisk } from './disk-errors.ts';
import { LoadedRepository, MAX_LOOSE, type RepositoryTools } from './loaded-repository.ts';
import type { RefSnapshot } from './ref-snapshot.ts';
import { needsTidying, packableRefs, type RefState, readRefState } from './ref-state.ts';
import { deleteRef, MAIN, packRefs, updateRef } from './refs.ts';
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
      if (stableCommit !== null && stableCommit !== main) {
        await updateRef(this.folder, MAIN, main, stableCommit);
      }
      for (const draft of leftOvers) await deleteRef(this.folder, draftRefName(draft.version), draft.oid);
      if (this.state === state) this.state = { ...state, main: stableCommit ?? main, leftOvers: [] };
      return true;
    } catch (error) {
      this.warn(error, 'could not tidy the refs of a repository');
      return false;
    }
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
