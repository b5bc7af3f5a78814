/**
 * The branch `main` of a configuration or a composite. It stands at the highest stable version that is offered, and goes
 * where none is left, so that HEAD is unborn.
 */

import { damagedRepository } from '../git/disk-errors.ts';
import type { History } from '../git/history.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { MAIN, oidOf, type RefSnapshot } from '../git/ref-reader.ts';
import { allSettled } from '../lib/awaitable.ts';
import type { BranchState, BranchUpkeep } from './branch-upkeep.ts';
import type { LeftOver } from './repository-index.ts';
import { ONLY_SERIES, type VersionRef } from './types.ts';

export class MainBranch implements BranchUpkeep {
  private readonly refs: RefBackend;
  /** Where we have moved `main` to since the refs were read. */
  private moved: { snapshot: RefSnapshot | undefined; oid: string | null } | undefined;

  constructor(refs: RefBackend) {
    this.refs = refs;
  }

  isBehind(state: BranchState): boolean {
    const main = this.mainOf(state);
    return state.index.leftOvers.length > 0 || placeOf(state, main) !== main;
  }

  announce(): void {
    // Nothing about `main` has to be known before a tag is made.
  }

  async tidy(
    state: BranchState,
    dropDrafts: (lefts: readonly LeftOver[]) => Promise<void>,
    failed: (error: unknown) => void,
  ): Promise<boolean> {
    const moveMain = async () => {
      const known = this.mainOf(state);
      if (placeOf(state, known) === known) return;
      // The branch may have moved since the refs were read, because a write of our own reads only what it wrote.
      const from = this.refs.get(MAIN);
      const to = placeOf(state, from);
      if (to !== from) await this.refs.moveForGood({ name: MAIN, from, to });
      this.moved = { snapshot: state.snapshot, oid: to };
    };
    try {
      // All at once, because each waits for flushes of its own.
      await allSettled([moveMain(), dropDrafts(state.index.leftOvers)]);
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
    const names = new Set([...removed, ...index.besides(removed)].map(({ name }) => name));
    const kept = [...snapshot.loose.keys(), ...snapshot.packed.refs.keys()].filter(
      (name) => !names.has(name),
    );
    const tipOf = (name: string) => index.check(name)?.facts?.commit ?? oidOf(snapshot, name) ?? [];
    // The history of a draft that is made here is its edits.
    const isWhole = (name: string) => !name.startsWith('refs/heads/') || index.check(name)?.facts?.pushed;
    const commits = removed.map(({ commit }) => {
      if (commit === null) throw damagedRepository();
      return commit;
    });
    const tips = {
      whole: kept.filter(isWhole).flatMap(tipOf),
      others: kept.filter((name) => !isWhole(name)).flatMap(tipOf),
    };
    return history.boundaries(tips, new Set(commits));
  }

  forget(): void {
    this.moved = undefined;
  }

  private mainOf({ snapshot }: BranchState): string | null {
    if (this.moved && this.moved.snapshot === snapshot) return this.moved.oid;
    return snapshot ? oidOf(snapshot, MAIN) : null;
  }
}

/**
 * The commit at which `main` is to stand, if it stands at this one now; null for no branch. It stays where it is while the
 * highest stable version cannot be read. Without a stable version it goes if it stands at a withdrawn one, and else stays,
 * because somebody may have put it there in a repository that has no versions yet.
 */
function placeOf({ index }: BranchState, main: string | null): string | null {
  const { highestStable, versions } = index.of(ONLY_SERIES);
  if (highestStable) return highestStable.commit ?? main;
  return versions.some(({ withdrawn, commit }) => withdrawn !== null && commit === main) ? null : main;
}
