/** The branch `main` of a configuration or a composite. It stands at the highest stable version. */

import { damagedRepository } from '../git/disk-errors.ts';
import type { History } from '../git/history.ts';
import type { GitFolder } from '../git/lock-file.ts';
import { MAIN, oidOf, type RefSnapshot, readRef } from '../git/ref-reader.ts';
import { updateRef } from '../git/refs.ts';
import { allSettled } from '../lib/awaitable.ts';
import type { BranchState, BranchUpkeep } from './branch-upkeep.ts';
import type { LeftOver } from './repository-index.ts';
import { ONLY_SERIES, type VersionRef } from './types.ts';

export class MainBranch implements BranchUpkeep {
  private readonly folder: GitFolder;
  /** Where we have moved `main` to since the refs were read. */
  private moved: { snapshot: RefSnapshot | undefined; oid: string } | undefined;

  constructor(folder: GitFolder) {
    this.folder = folder;
  }

  isBehind(state: BranchState): boolean {
    const stable = stableCommitOf(state);
    return state.index.leftOvers.length > 0 || (stable !== null && stable !== this.mainOf(state));
  }

  announce(): void {
    // Nothing about `main` has to be known before a tag is made.
  }

  async tidy(
    state: BranchState,
    dropDraft: (left: LeftOver) => Promise<void>,
    failed: (error: unknown) => void,
  ): Promise<boolean> {
    const stable = stableCommitOf(state);
    const dropDrafts = async () => {
      for (const left of state.index.leftOvers) await dropDraft(left);
    };
    const moveMain = async () => {
      if (stable === null || stable === this.mainOf(state)) return;
      // The branch may have moved since the refs were read, because a write of our own reads only what it wrote.
      const main = readRef(this.folder.fs, this.folder.gitdir, MAIN);
      if (stable !== main) await updateRef(this.folder, MAIN, main, stable);
      this.moved = { snapshot: state.snapshot, oid: stable };
    };
    try {
      // Both at once, because each waits for flushes of its own.
      await allSettled([moveMain(), dropDrafts()]);
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }

  /** Drafts and branches of other programs may have grown from any version, so all refs are followed. */
  async endsOfHistory(
    { index, snapshot }: BranchState,
    removed: readonly VersionRef[],
    history: History,
  ): Promise<string[]> {
    if (!snapshot) return [];
    const names = new Set(removed.map(({ name }) => name));
    const kept = [...snapshot.loose.keys(), ...snapshot.packed.refs.keys()].filter(
      (name) => !names.has(name),
    );
    const tips = kept.flatMap((name) => index.check(name)?.facts?.commit ?? oidOf(snapshot, name) ?? []);
    const commits = removed.map(({ commit }) => {
      if (commit === null) throw damagedRepository();
      return commit;
    });
    return history.boundaries(new Set(tips), new Set(commits));
  }

  forget(): void {
    this.moved = undefined;
  }

  private mainOf({ snapshot }: BranchState): string | null {
    if (this.moved && this.moved.snapshot === snapshot) return this.moved.oid;
    return snapshot ? oidOf(snapshot, MAIN) : null;
  }
}

/** The commit of the highest stable version. Null when there is none, or when it cannot be read. */
function stableCommitOf({ index }: BranchState): string | null {
  return index.of(ONLY_SERIES).highestStable?.commit ?? null;
}
