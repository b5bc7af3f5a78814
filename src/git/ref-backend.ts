/** Where the refs of a repository are kept: in its folder, as stock git has them, or in PostgreSQL. */

import type { Db } from '../db/database.ts';
import type { RefsChange } from '../db/git-tables.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { RefSnapshot, RefValue } from './ref-reader.ts';
import type { PackedRef, PeeledMove, ReadyMoves, RefMove } from './refs.ts';

/** Moves of refs in a repository whose lock is held, which are made in one step with those of others. */
export interface OtherMoves {
  refs: RefBackend;
  moves: readonly PeeledMove[];
}

export interface RefBackend {
  /**
   * Whether moves are made by the transaction that notes them. If not, each one is made at once, and flushed, and is
   * noted afterwards.
   */
  readonly isTransactional: boolean;
  /** Whether the repository is there, as far as this can be told without waiting. */
  readonly isThere: boolean;
  /** Whether moves of the lock's holder were made or begun that can still be taken back. */
  readonly isHalfway: boolean;
  /** Whether nothing has changed since, as far as this can be told without waiting. Undefined is for no repository. */
  isCurrent(snapshot: RefSnapshot | undefined): boolean;
  /** As `isCurrent`, for whoever holds the lock and must know for certain. */
  isFresh(snapshot: RefSnapshot | undefined): Awaitable<boolean>;
  /**
   * All branches and tags. `previous` saves reading those that did not change.
   * @throws HawserError `repository_missing`
   */
  read(previous: RefSnapshot | undefined): Promise<RefSnapshot>;
  /**
   * Makes certain that a repository that cannot be read was never made.
   * @param error what reading it has failed with
   * @throws HawserError `repository_damaged`, or `repository_missing` if nobody can tell
   */
  requireAbsent(error: unknown): void;
  /** The snapshot after a move of one ref by the lock's holder; null if all refs must be read. */
  follow(known: RefSnapshot, name: string): RefSnapshot | null;
  /** The value of one ref as it is now for the lock's holder; null where it does not exist. */
  get(name: string): string | null;
  /**
   * Moves a ref for the lock's holder. It stays moved only if the holder's work succeeds.
   * @returns false, with nothing changed, when the ref has another value than `from`
   */
  move(move: RefMove): Promise<boolean>;
  /**
   * Moves refs as `move` does, all of them or none, whenever the process ends.
   * @returns false, with nothing changed, when one of them has another value than `from`
   */
  moveAll(moves: readonly PeeledMove[]): Promise<boolean>;
  /**
   * Makes moves ready that are to be made in one step with those of other repositories. In PostgreSQL `commit` makes them.
   * @returns null when one of them has another value than `from`
   */
  ready(moves: readonly PeeledMove[]): Promise<ReadyMoves | null>;
  /** Does what `move` does. A ref in a folder stays moved, whatever becomes of the holder's work. @returns as `move` */
  moveForGood(move: RefMove): Promise<boolean>;
  /** Does what `moveAll` does, and the refs stay moved as those of `moveForGood` do. @returns as `moveAll` */
  moveAllForGood(moves: readonly PeeledMove[]): Promise<boolean>;
  /**
   * Removes versions for good. History is first made to end at these commits.
   * @param withdrawals go last, so that a crash in between offers none of these versions again
   * @throws HawserError conflict `versions_changed` when another program moved one of the refs meanwhile
   */
  removeForGood(
    ends: readonly string[],
    refs: readonly RefValue[],
    withdrawals: readonly RefValue[],
  ): Promise<void>;
  /** Writes the moves that a transaction is to make. It may be called again where a transaction is tried again. */
  commit(trx: Db): Promise<void>;
  /** Carries out work in a transaction, in which it calls `commit`. */
  transaction(work: (trx: Db) => Promise<void>): Promise<void>;
  /** To be called once that transaction was committed. */
  settle(): void;
  /** Lets the moves stand, because the holder's work has succeeded, or nobody knows whether it has. */
  confirm(): void;
  /** Takes the moves back. One that cannot be taken back is left for the next holder. */
  rollBack(): Promise<void>;
  /** The commits at which history was made to end. */
  shallow(): Promise<Set<string>>;
  /** Brings refs that lie in files of their own into one file, where that is faster to read. */
  pack(refs: readonly PackedRef[]): Promise<void>;
  /** Takes in a change that the feed of PostgreSQL tells of. */
  learn(change: RefsChange): void;
  /** Makes the next reader look at all refs. */
  doubt(): void;
  /** Removes what a process left unfinished. */
  sweep(): Promise<void>;
}
