/**
 * The refs of a repository with moves that are kept, to be made later in one step with those of other repositories. Only who
 * asks here sees them.
 */

import { internal } from '../lib/errors.ts';
import type { RefBackend } from './ref-backend.ts';
import { allRefs } from './ref-list.ts';
import { type RefSnapshot, type RefValue, snapshotOf } from './ref-reader.ts';
import type { PeeledMove, ReadyMoves, RefMove } from './refs.ts';

export class StagedRefs implements RefBackend {
  /** What belongs to the moves is kept as they are. */
  readonly isTransactional = true;
  readonly isThere = true;
  readonly isHalfway = false;
  private readonly base: RefBackend;
  private readonly moved = new Map<string, PeeledMove>();
  private refs: ReadonlyMap<string, string>;

  /** @param base whose lock is held, with the refs that it has now */
  constructor(base: RefBackend, snapshot: RefSnapshot) {
    this.base = base;
    this.refs = allRefs(snapshot);
  }

  /** The moves that are kept, one for each ref that has another value now. */
  get moves(): PeeledMove[] {
    return [...this.moved.values()].filter(({ from, to }) => from !== to);
  }

  get snapshot(): RefSnapshot {
    return snapshotOf(this.refs);
  }

  isCurrent(snapshot: RefSnapshot | undefined): boolean {
    return snapshot?.packed.refs === this.refs;
  }

  isFresh(snapshot: RefSnapshot | undefined): boolean {
    return this.isCurrent(snapshot);
  }

  async read(): Promise<RefSnapshot> {
    return this.snapshot;
  }

  requireAbsent(error: unknown): void {
    this.base.requireAbsent(error);
  }

  follow(): RefSnapshot {
    return this.snapshot;
  }

  get(name: string): string | null {
    return this.refs.get(name) ?? null;
  }

  move(move: RefMove): Promise<boolean> {
    return this.moveAll([{ ...move, peeled: null }]);
  }

  async moveAll(moves: readonly PeeledMove[]): Promise<boolean> {
    if (moves.some(({ name, from }) => this.get(name) !== from)) return false;
    const refs = new Map(this.refs);
    for (const move of moves) {
      const { name, to } = move;
      const earlier = this.moved.get(name);
      this.moved.set(name, { ...move, from: earlier ? earlier.from : move.from });
      if (to === null) refs.delete(name);
      else refs.set(name, to);
    }
    this.refs = refs;
    return true;
  }

  moveForGood(move: RefMove): Promise<boolean> {
    return this.move(move);
  }

  moveAllForGood(moves: readonly PeeledMove[]): Promise<boolean> {
    return this.moveAll(moves);
  }

  async ready(): Promise<ReadyMoves | null> {
    throw notHere();
  }

  async removeForGood(_ends: readonly string[], _refs: readonly RefValue[]): Promise<void> {
    throw notHere();
  }

  async commit(): Promise<void> {
    // They are made later.
  }

  async transaction(): Promise<void> {
    throw notHere();
  }

  settle(): void {
    // They are made later.
  }

  confirm(): void {
    // They are made later.
  }

  async rollBack(): Promise<void> {
    // Whoever fails drops all of them.
  }

  shallow(): Promise<Set<string>> {
    return this.base.shallow();
  }

  async pack(): Promise<void> {
    // The refs below are packed by their own holder.
  }

  learn(): void {
    // Nobody else moves them while the lock is held.
  }

  doubt(): void {
    // Nobody else moves them while the lock is held.
  }

  async sweep(): Promise<void> {
    // The holder of the refs below has swept.
  }
}

const notHere = () => internal('internal_error', 'Moves that are kept are made with others');
