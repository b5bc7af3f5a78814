/** Where repositories are: in folders, which are the truth then, or in PostgreSQL, which folders only cache. */

import type { Db } from '../db/database.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import type { RefValue } from '../git/ref-reader.ts';
import type { GitFolders, RepositoryRef, RepositorySettings, StoredKind, StoredRef } from '../git/types.ts';

/** A repository and its refs. The folder names it, wherever its refs and objects are. */
export interface PlacedRepository {
  ref: StoredRef;
  gitdir: string;
  refs: RefBackend;
}

/** Writes what a new repository holds, and gives its one ref, or null for none. @param gitdir where it is being made */
export type FillRepository = (gitdir: string) => Promise<RefValue | null>;

export interface RepositoryPlace extends GitFolders {
  /** Makes the folders, and removes what a crash left unfinished. To be called before the store is used. */
  prepare(): Promise<void>;
  /** The names of the repositories, sorted. */
  list(kind: StoredKind): Promise<string[]>;
  has(ref: StoredRef): Promise<boolean>;
  /** The settings as given at creation; null for a repository that Hawser did not make. */
  settings(ref: StoredRef): Promise<RepositorySettings | null>;
  refsOf(ref: StoredRef, gitdir: string): RefBackend;
  /**
   * Makes a repository, whole or not at all, and as `RefBackend.isTransactional` says.
   * @param settings null for parameters, which have no row of their own
   * @throws HawserError conflict `name_taken`
   */
  make(
    repository: PlacedRepository,
    settings: RepositorySettings | null,
    fill: FillRepository,
  ): Promise<void>;
  /** Takes back what `make` has made. */
  unmake(repository: PlacedRepository): Promise<void>;
  /** Removes a repository, at once for all who look. It need not exist. @param removed is called once it is gone */
  remove(repository: PlacedRepository, removed: () => Promise<void>): Promise<void>;
  /** Removes a repository, or notes that it is to be removed, in the transaction that deletes its row. */
  noteRemoval(trx: Db, ref: RepositoryRef): Promise<void>;
  /** The branch that a clone checks out; null where that cannot be told. */
  headOf(ref: StoredRef): string | null;
  /** Makes a branch the one that a clone checks out. To be called under the lock. */
  pointHead(ref: StoredRef, branch: string): Promise<void>;
  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  writeFault(): Promise<string | null>;
}
