/** One repository in memory: its index as last read, kept true to the disk, and the word that refs moved. */

import type { Log } from '../lib/log.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { guardDisk } from './disk-errors.ts';
import type { GitFolder } from './lock-file.ts';
import type { ObjectStore } from './objects.ts';
import {
  applyChange,
  needsTidying,
  type RefChange,
  type RefState,
  readRefState,
  takeStamp,
} from './ref-state.ts';
import { deleteRef, MAIN, updateRef } from './refs.ts';
import type { RepositoryRef, VersionDetails, VersionRef } from './types.ts';
import { draftRefName, type SortedVersions } from './version-index.ts';
import type { VersionObjects } from './version-objects.ts';

export interface RepositoryTools {
  fs: AtomicFs;
  log: Log;
  objects: ObjectStore;
  versions: VersionObjects;
  onRefsMoved: (repository: RepositoryRef) => Promise<void>;
}

const DEFAULT_ENTRY_POINT = 'main.dsc.yaml';

export class Repository {
  readonly ref: RepositoryRef;
  readonly folder: GitFolder;
  /** Whether somebody holds the lock; the holder itself looks at the disk and tells of changes. */
  busy = false;
  /** Whether this process has removed what an earlier one left unfinished in the folder. */
  swept = false;
  private readonly tools: RepositoryTools;
  private state: RefState | undefined;
  private loading: Promise<SortedVersions> | undefined;
  private started = 0;
  private installed = 0;
  private owed = false;

  constructor(tools: RepositoryTools, ref: RepositoryRef, gitdir: string) {
    this.tools = tools;
    this.ref = ref;
    this.folder = { fs: tools.fs, log: tools.log, gitdir };
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

  /** Whether the watch must read the refs again or repeat the word that they moved. Looks at the disk. */
  get stale(): boolean {
    if (this.busy) return false;
    if (this.owed) return true;
    if (this.state === undefined) return false;
    const { stamp } = this.state;
    return !stamp.settled || takeStamp(this.folder.fs, this.folder.gitdir).text !== stamp.text;
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
    const { folder, state } = this;
    const same = state?.stamp.settled && takeStamp(folder.fs, folder.gitdir).text === state.stamp.text;
    return same ? state.index : this.reload();
  }

  /** Reads the refs anew and, when they turn out moved, says so. */
  async reload(): Promise<SortedVersions> {
    const index = await this.read();
    // Nobody waits here for the word, so its failure is no failure of the reading.
    if (this.owed) await this.tell().catch((error) => this.warn(error, 'could not pass on that refs moved'));
    return index;
  }

  /** After a write of our own, before anything else may fail: what is known follows the disk. */
  async wrote(change: RefChange): Promise<void> {
    this.owed = true;
    if (!this.state) {
      await this.read();
      return;
    }
    this.started += 1;
    this.installed = this.started;
    this.state = applyChange(this.state, change);
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
    const { index, leftOvers, main, stableCommit } = state;
    try {
      const stable = index.highestStable;
      if (stable && stableCommit !== null && stableCommit !== main) {
        const commit = await this.tools.versions.commitOf(this.folder.gitdir, stable.oid);
        await updateRef(this.folder, MAIN, main, commit);
      }
      for (const draft of leftOvers) await deleteRef(this.folder, draftRefName(draft.version), draft.oid);
      if (this.state === state) this.state = { ...state, main: stableCommit ?? main, leftOvers: [] };
      return true;
    } catch (error) {
      this.warn(error, 'could not tidy the refs of a repository');
      return false;
    }
  }

  async details(version: VersionRef): Promise<VersionDetails> {
    const { entryPoint, ...content } = await this.tools.versions.read(this.folder.gitdir, version);
    return {
      version: version.version,
      status: version.status,
      ...content,
      entryPoint: entryPoint ?? (await this.inheritedEntryPoint(version.version)),
    };
  }

  private async inheritedEntryPoint(version: string): Promise<string> {
    const index = await this.load();
    let below = index.highestPublishedBelow(version);
    while (below) {
      const { entryPoint } = await this.tools.versions.read(this.folder.gitdir, below);
      if (entryPoint !== null) return entryPoint;
      below = index.highestPublishedBelow(below.version);
    }
    return DEFAULT_ENTRY_POINT;
  }

  private async read(): Promise<SortedVersions> {
    this.started += 1;
    const turn = this.started;
    const state = await guardDisk(() => readRefState(this.tools, this.folder.gitdir, this.state));
    // Of two readings at once the one that began later knows more, whichever ends first.
    if (turn < this.installed) return (this.state ?? state).index;
    this.installed = turn;
    if (this.state && !this.state.index.equals(state.index)) this.owed = true;
    this.state = state;
    return state.index;
  }

  private warn(error: unknown, message: string): void {
    this.tools.log.warn({ err: error, repository: this.ref }, message);
  }
}
