/** The branches that follow the published versions: what `main` and the branches of scope types have in common. */

import type { LRUCache } from 'lru-cache';
import type { History } from '../git/history.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import type { RefSnapshot, RefValue } from '../git/ref-reader.ts';
import type { VersionKind } from './kinds.ts';
import type { LeftOver, RepositoryIndex } from './repository-index.ts';
import type { VersionRef } from './types.ts';
import type { VersionObjects } from './version-objects.ts';

/** The content of folders by their ids. */
export type TreeCache = LRUCache<string, Buffer>;

export interface BranchTools {
  objects: ObjectStore;
  versions: VersionObjects;
  trees: TreeCache;
}

/** The repository that a branch is in. */
export interface BranchSite {
  gitdir: string;
  refs: RefBackend;
  kind: VersionKind;
}

/** A tag that a version had by another name, and the commit that it leads to. */
export interface FormerTag extends RefValue {
  commit: string;
}

/** The former tags of a repository of parameters: those that go with the removed versions, and the others. */
export interface FormerTags {
  gone: readonly FormerTag[];
  kept: readonly FormerTag[];
}

export interface BranchState {
  index: RepositoryIndex;
  snapshot: RefSnapshot | undefined;
}

export interface BranchUpkeep {
  /** Whether a branch is not where the published versions demand it, or a draft branch lies beside its tag. */
  isBehind(state: BranchState): boolean;
  /** Announces a tag that is about to be given its ref. */
  announce(series: string, tag: string): void;
  /**
   * Brings the branches up to date and drops the draft branches of published versions.
   * @param dropDrafts drops many at once
   * @param failed called with each failure; the rest is done all the same
   * @returns whether anything was done
   */
  tidy(
    state: BranchState,
    dropDrafts: (lefts: readonly LeftOver[]) => Promise<void>,
    failed: (error: unknown) => void,
  ): Promise<boolean>;
  /** The commits at which history must end, so that nothing that is kept leads to one of `removed`, or to a former tag of it. */
  endsOfHistory(
    state: BranchState,
    removed: readonly VersionRef[],
    history: History,
    former: FormerTags,
  ): Promise<string[]>;
  /** Drops what is known of a repository that is gone. */
  forget(): void;
}
