/** The refs of a repository in its folder. Other programs may move them too. */

import { dirname } from 'node:path';
import { internal } from '../lib/errors.ts';
import { damagedRepository, guardDisk, missingRepository } from './disk-errors.ts';
import { readShallow, removeRefs } from './history.ts';
import type { GitFolder } from './lock-file.ts';
import type { RefBackend } from './ref-backend.ts';
import {
  followRef,
  isCurrent,
  type RefSnapshot,
  type RefValue,
  readRef,
  readSnapshot,
} from './ref-reader.ts';
import {
  moveRef,
  moveRefs,
  type PackedRef,
  type PeeledMove,
  packRefs,
  type ReadyMoves,
  type RefMove,
  readyMoves,
} from './refs.ts';
import { sweepLeftOvers } from './repository-layout.ts';

export class FolderRefs implements RefBackend {
  readonly isTransactional = false;
  private readonly folder: GitFolder;
  /** The refs that the lock's holder has moved; those of one list are taken back at once. */
  private moves: (readonly RefMove[])[] = [];

  constructor(folder: GitFolder) {
    this.folder = folder;
  }

  get isThere(): boolean {
    return this.folder.fs.lstatNow(this.folder.gitdir) !== undefined;
  }

  get isHalfway(): boolean {
    return this.moves.length > 0;
  }

  isCurrent(snapshot: RefSnapshot | undefined): boolean {
    return snapshot ? isCurrent(this.folder.fs, this.folder.gitdir, snapshot) : !this.isThere;
  }

  isFresh(snapshot: RefSnapshot | undefined): boolean {
    return this.isCurrent(snapshot);
  }

  read(previous: RefSnapshot | undefined): Promise<RefSnapshot> {
    return readSnapshot(this.folder.fs, this.folder.gitdir, previous);
  }

  requireAbsent(error: unknown): void {
    const { fs, gitdir } = this.folder;
    if (this.isThere) throw damagedRepository(error);
    // Only the folder of all repositories of this kind tells for certain that this one was never made.
    if (fs.lstatNow(dirname(gitdir)) === undefined) throw missingRepository(error);
  }

  follow(known: RefSnapshot, name: string): RefSnapshot | null {
    return followRef(this.folder.fs, this.folder.gitdir, known, name);
  }

  get(name: string): string | null {
    return readRef(this.folder.fs, this.folder.gitdir, name);
  }

  async move(move: RefMove): Promise<boolean> {
    // It is noted first: where the disk fails, the ref may have moved all the same.
    this.moves.push([move]);
    return moveRef(this.folder, move);
  }

  async moveAll(moves: readonly PeeledMove[]): Promise<boolean> {
    this.moves.push(moves);
    return moveRefs(this.folder, moves);
  }

  ready(moves: readonly PeeledMove[]): Promise<ReadyMoves | null> {
    return guardDisk(() => readyMoves(this.folder, moves));
  }

  moveForGood(move: RefMove): Promise<boolean> {
    return moveRef(this.folder, move);
  }

  moveAllForGood(moves: readonly PeeledMove[]): Promise<boolean> {
    return moveRefs(this.folder, moves);
  }

  removeForGood(
    ends: readonly string[],
    refs: readonly RefValue[],
    withdrawals: readonly RefValue[],
  ): Promise<void> {
    return removeRefs(this.folder, ends, refs, withdrawals);
  }

  async commit(): Promise<void> {
    // Each move was made before.
  }

  async transaction(): Promise<void> {
    throw internal('internal_error', 'Refs in a folder are moved without a transaction');
  }

  settle(): void {
    // Each move was made before.
  }

  confirm(): void {
    this.moves = [];
  }

  /** The latest move is taken back first. */
  async rollBack(): Promise<void> {
    for (let moves = this.moves.at(-1); moves !== undefined; moves = this.moves.at(-1)) {
      // A ref that is there again was a branch, or a record of which git tells nothing.
      const back = moves.map(({ name, from, to }) => ({ name, from: to, to: from, peeled: null }));
      await guardDisk(() => takeBack(this.folder, back));
      this.moves.pop();
    }
  }

  shallow(): Promise<Set<string>> {
    return readShallow(this.folder.fs, this.folder.gitdir);
  }

  pack(refs: readonly PackedRef[]): Promise<void> {
    return packRefs(this.folder, refs);
  }

  learn(): void {
    // The feed of PostgreSQL tells nothing of a folder.
  }

  doubt(): void {
    // Each look at a folder shows what has changed in it.
  }

  sweep(): Promise<void> {
    return sweepLeftOvers(this.folder.fs, this.folder.gitdir);
  }
}

/** A ref stays that never moved, or that another program has moved on; the others go back all the same. */
async function takeBack(folder: GitFolder, moves: readonly PeeledMove[]): Promise<void> {
  if (moves.length > 1 && (await moveRefs(folder, moves))) return;
  for (const move of moves) await moveRef(folder, move);
}
