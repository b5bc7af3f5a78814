/** One repository in memory: its index as last read, kept true to the disk, and the word that refs moved. */

import { notFound } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { Damage, isDamage } from './damage.ts';
import { damagedRepository, guardDisk } from './disk-errors.ts';
import type { GitFolder } from './lock-file.ts';
import { oidOf, takeStamp } from './ref-snapshot.ts';
import { needsTidying, packableRefs, type RefState, readRefState } from './ref-state.ts';
import { deleteRef, MAIN, packRefs, updateRef } from './refs.ts';
import type { RepositoryProblem, RepositoryRef, VersionDetails, VersionRef } from './types.ts';
import { type CheckTools, VersionChecks } from './version-checks.ts';
import { draftRefName, refNameOf, type SortedVersions } from './version-index.ts';
import { isContent } from './version-objects.ts';

export interface RepositoryTools extends CheckTools {
  log: Log;
  onRefsMoved: (repository: RepositoryRef) => Promise<void>;
}

/** Loose refs of versions that are left to lie; every look at the refs asks the disk for each of them. */
const MAX_LOOSE = 100;
const BLOB = 'blob ';
const NONE: ReadonlySet<string> = new Set();

export class Repository {
  readonly ref: RepositoryRef;
  readonly folder: GitFolder;
  /** Whether somebody holds the lock; the holder itself looks at the disk and tells of changes. */
  busy = false;
  /** Whether this process has removed what an earlier one left unfinished in the folder. */
  swept = false;
  private readonly tools: RepositoryTools;
  private readonly checks: VersionChecks;
  private readonly damage: Damage;
  /** Oids of refs that look like versions and are none, of which the log has been told. */
  private readonly warned = new Set<string>();
  private state: RefState | undefined;
  private loading: Promise<SortedVersions> | undefined;
  private started = 0;
  private installed = 0;
  private owed = false;

  constructor(tools: RepositoryTools, ref: RepositoryRef, gitdir: string) {
    this.tools = tools;
    this.ref = ref;
    this.folder = { fs: tools.fs, log: tools.log, gitdir };
    this.checks = new VersionChecks(tools, ref.kind, gitdir);
    this.damage = new Damage(tools.log, ref);
  }

  /** The index as last read, without a look at the disk. */
  get known(): SortedVersions | undefined {
    return this.state?.index;
  }

  /** Whether there is nothing left to keep it in memory for. */
  get idle(): boolean {
    return this.state === undefined && !this.owed && !this.busy;
  }

  get untidy(): boolean {
    return this.state !== undefined && needsTidying(this.state);
  }

  /** Whether so many refs are loose that looking at them takes a while. */
  get crowded(): boolean {
    return this.state !== undefined && this.state.snapshot.loose.size > MAX_LOOSE;
  }

  /** Whether the watch must read the refs again or repeat the word that they moved. Looks at the disk. */
  get stale(): boolean {
    if (this.busy || (this.state === undefined && !this.owed)) return false;
    return this.owed || this.damage.isDue || !this.isCurrent;
  }

  private get isCurrent(): boolean {
    const stamp = this.state?.snapshot.stamp;
    return stamp?.settled === true && takeStamp(this.folder.fs, this.folder.gitdir).text === stamp.text;
  }

  /** The index, read from the disk the first time; callers at the same time share one reading. */
  async load(): Promise<SortedVersions> {
    if (this.state) return this.state.index;
    this.loading ??= this.reload().finally(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  /** The index as it is on the disk now. */
  async fresh(): Promise<SortedVersions> {
    return this.state && this.isCurrent ? this.state.index : this.reload();
  }

  /** Reads the refs anew and, when they turn out moved, says so. */
  async reload(): Promise<SortedVersions> {
    const index = await this.read(NONE);
    await this.tellIfOwed();
    return index;
  }

  /** For the watch: reads the refs anew and, now and then, what could not be read. */
  async lookAgain(): Promise<void> {
    if (this.damage.isDue) await this.lookAtDamage();
    else await this.reload();
  }

  /** After a write of our own, before anything else may fail: what is known follows the disk. */
  async wrote(): Promise<void> {
    this.owed = true;
    await this.read(NONE);
  }

  /** Says that refs moved and waits for it to be taken in; what fails stays owed and the watch tries again. */
  async tell(): Promise<void> {
    // Down before the call: a change noticed while it runs must be told of again.
    this.owed = false;
    try {
      await this.tools.onRefsMoved(this.ref);
    } catch (error) {
      this.owed = true;
      throw error;
    }
  }

  /** After the repository's end, or when it cannot be read any more. */
  async forget(): Promise<void> {
    this.state = undefined;
    // A reading still under way must not bring it back.
    this.started += 1;
    this.installed = this.started;
    this.damage.names.clear();
    this.owed = true;
    await this.tell();
  }

  /**
   * Makes `main` and the draft branches what the published versions demand, under the lock only: after each
   * publishing, and for one that a crash cut short. A failure is logged: the versions are what they are.
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

  /** Under the lock only. */
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
    const { stated: _stated, tag: _tag, ...details } = content;
    return { version, status, ...details, entryPoint: content.entryPoint ?? (await this.inherited(version)) };
  }

  async blob(oid: string): Promise<Buffer> {
    return this.noting(BLOB + oid, () => this.readBlob(oid));
  }

  get problems(): RepositoryProblem[] {
    const faults = [...(this.state?.faults ?? [])].map(([ref, reason]) => ({ ref, reason }));
    const damage = [...this.damage.names].map((ref) => ({ ref, reason: 'repository_damaged' }));
    return [...faults, ...damage].map((problem) => ({ repository: this.ref, ...problem }));
  }

  private async inherited(version: string): Promise<string> {
    await this.load();
    const entryPoint = this.state?.inherited.get(version);
    if (entryPoint !== undefined) return entryPoint;
    // Either the ref has gone meanwhile, or the version that would tell cannot be read.
    throw this.state?.index.get(version) ? damagedRepository() : notFound('There is no such version.');
  }

  private async noting<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      const read = await work();
      if (this.damage.names.has(name)) await this.lookAtDamage();
      return read;
    } catch (error) {
      if (isDamage(error)) this.damage.found(name, error);
      throw error;
    }
  }

  /** Tries again what could not be read, and whether it is a version's where that was not known. */
  private async lookAtDamage(): Promise<void> {
    const names = new Set(this.damage.names);
    this.damage.trying();
    for (const name of names) {
      if (!name.startsWith(BLOB)) continue;
      const blob = await this.readBlob(name.slice(BLOB.length)).catch(() => null);
      if (blob !== null) this.damage.cured(name);
    }
    await this.read(names);
    await this.tellIfOwed();
  }

  private readBlob(oid: string): Promise<Buffer> {
    return this.tools.objects.readBytes(this.folder.gitdir, oid, 'blob');
  }

  private async read(doubted: ReadonlySet<string>): Promise<SortedVersions> {
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

  private install(state: RefState): void {
    const before = this.state?.index;
    this.state = state;
    for (const [ref, reason] of state.faults) {
      const oid = oidOf(state.snapshot, ref) ?? '';
      if (this.warned.has(oid)) continue;
      this.warned.add(oid);
      this.tools.log.warn({ repository: this.ref, ref, reason }, 'a tag or draft branch is no version');
    }
    if (!before || before === state.index) return;
    this.owed = true;
    // A blob may have been of a version that is gone; if it was not, the next who asks for it finds out.
    const isGone = ({ version }: VersionRef) => state.index.get(version) === undefined;
    if (this.damage.names.size === 0 || !before.versions.some(isGone)) return;
    for (const name of this.damage.names) if (name.startsWith(BLOB)) this.damage.cured(name);
  }

  /** Nobody waits for this word, so its failure is no failure of the reading. */
  private async tellIfOwed(): Promise<void> {
    if (this.owed) await this.tell().catch((error) => this.warn(error, 'could not pass on that refs moved'));
  }

  private warn(error: unknown, message: string): void {
    this.tools.log.warn({ err: error, repository: this.ref }, message);
  }
}
