/**
 * The refs of a repository in PostgreSQL. What is known of them follows the feed, so nothing is asked while nothing
 * changes. The moves of the lock's holder are kept until its transaction makes them.
 */

import { randomUUID } from 'node:crypto';
import type { Db } from '../db/database.ts';
import type { RefsChange, StoredRepository } from '../db/git-tables.ts';
import { conflict } from '../lib/errors.ts';
import { missingRepository } from './disk-errors.ts';
import type { RefBackend } from './ref-backend.ts';
import { type RefSnapshot, type RefValue, snapshotOf } from './ref-reader.ts';
import type { ReadyMoves, RefMove } from './refs.ts';
import type { SharedRepositories } from './shared-repositories.ts';
import type { RepositorySettings, StoredRef } from './types.ts';

type Refs = ReadonlyMap<string, string>;

/** What was committed. */
interface Committed {
  repository: StoredRepository;
  refs: Refs;
}

/** What the lock's holder has done and its transaction is to make. */
interface Staged {
  /** Whether the repository itself is new. */
  isNew: boolean;
  repository: StoredRepository;
  moves: RefMove[];
  refs: Refs;
  /** The commits at which history ends; null as before. */
  shallow: ReadonlySet<string> | null;
}

export class TableRefs implements RefBackend {
  readonly isTransactional = true;
  private readonly ref: StoredRef;
  private readonly gitdir: string;
  private readonly shared: SharedRepositories;
  /** Null where there is no repository; undefined before the first reading. */
  private known: Committed | null | undefined;
  /** Whether others may have moved refs since that was read. */
  private isDoubted = false;
  /** How often the feed has told of this repository, or this process has committed. */
  private told = 0;
  private staged: Staged | null = null;
  /** What the transaction that was sent last makes. */
  private sent: Committed | null = null;
  /** The states that this process has made and the feed has not told of. */
  private readonly own = new Set<string>();
  private lastRenewal: Promise<void> = Promise.resolve();

  constructor(ref: StoredRef, gitdir: string, shared: SharedRepositories) {
    this.ref = ref;
    this.gitdir = gitdir;
    this.shared = shared;
  }

  get isThere(): boolean {
    return this.now !== null;
  }

  get isHalfway(): boolean {
    return this.staged !== null;
  }

  isCurrent(snapshot: RefSnapshot | undefined): boolean {
    return !this.isDoubted && this.known !== undefined && this.now?.refs === snapshot?.packed.refs;
  }

  async isFresh(snapshot: RefSnapshot | undefined): Promise<boolean> {
    this.isDoubted = true;
    await this.renew();
    return this.isCurrent(snapshot);
  }

  async read(): Promise<RefSnapshot> {
    if (this.known === undefined || this.isDoubted) await this.renew();
    const { now } = this;
    if (now === null) throw missingRepository();
    return snapshotOf(now.refs);
  }

  requireAbsent(): void {
    // PostgreSQL has told that there is no such repository.
  }

  follow(): RefSnapshot | null {
    return this.now && snapshotOf(this.now.refs);
  }

  get(name: string): string | null {
    return this.now?.refs.get(name) ?? null;
  }

  move(move: RefMove): Promise<boolean> {
    return this.moveAll([move]);
  }

  async moveAll(moves: readonly RefMove[]): Promise<boolean> {
    if (moves.some(({ name, from }) => this.get(name) !== from)) return false;
    this.stage(moves);
    return true;
  }

  async ready(moves: readonly RefMove[]): Promise<ReadyMoves | null> {
    if (moves.some(({ name, from }) => this.get(name) !== from)) return null;
    return {
      make: () => this.stage(moves),
      takeBack: () => this.unstage(),
      flush: async () => undefined,
      flushNow: () => undefined,
      end: async () => undefined,
    };
  }

  moveForGood(move: RefMove): Promise<boolean> {
    return this.moveAll([move]);
  }

  moveAllForGood(moves: readonly RefMove[]): Promise<boolean> {
    return this.moveAll(moves);
  }

  async removeForGood(
    ends: readonly string[],
    refs: readonly RefValue[],
    withdrawals: readonly RefValue[],
  ): Promise<void> {
    const removed = [...refs, ...withdrawals];
    if (removed.some(({ name, oid }) => this.get(name) !== oid)) throw changedMeanwhile();
    const shallow = ends.length > 0 ? new Set([...(await this.shallow()), ...ends]) : null;
    this.stage(removed.map(({ name, oid }) => ({ name, from: oid, to: null })));
    if (this.staged && shallow) this.staged.shallow = shallow;
  }

  /** Makes the repository in the holder's transaction. */
  create(settings: RepositorySettings | null): void {
    const facts = { id: randomUUID(), settings, shallow: [], state: randomUUID() };
    const repository = { ...facts, kind: this.ref.kind, name: this.ref.name };
    this.shared.noteId(this.gitdir, repository.id);
    this.staged = { isNew: true, repository, moves: [], refs: new Map(), shallow: null };
  }

  async commit(trx: Db): Promise<void> {
    if (this.staged === null) return;
    const { isNew, repository, moves, refs, shallow } = this.staged;
    const { tables } = this.shared;
    if (isNew) await tables.create(trx, repository);
    const { id, kind, name, state: before } = repository;
    const after = randomUUID();
    const change = { id, kind, name, before, after, moves: joined(moves), shallow: shallow && [...shallow] };
    if (!(await tables.moveRefs(trx, change))) throw changedMeanwhile();
    const ends = shallow === null ? repository.shallow : [...shallow];
    this.sent = { repository: { ...repository, state: after, shallow: ends }, refs };
  }

  transaction(work: (trx: Db) => Promise<void>): Promise<void> {
    return this.shared.tables.transaction(work);
  }

  settle(): void {
    if (this.sent === null) return;
    this.told += 1;
    const { state } = this.sent.repository;
    // The feed may have told it already. The moves are the same, and so is what is known.
    if (this.known?.repository.state !== state) this.own.add(state);
    if (this.staged?.isNew) this.own.add(this.staged.repository.state);
    this.known = this.sent;
    this.staged = null;
    this.sent = null;
  }

  confirm(): void {
    if (this.staged !== null) this.isDoubted = true;
    this.unstage();
  }

  async rollBack(): Promise<void> {
    this.unstage();
  }

  async shallow(): Promise<Set<string>> {
    const { staged } = this;
    if (staged?.shallow) return new Set(staged.shallow);
    if (staged?.isNew) return new Set();
    const stored = await this.shared.reader.find(this.ref);
    return new Set(stored?.shallow);
  }

  async pack(): Promise<void> {
    // They lie in one table.
  }

  async sweep(): Promise<void> {
    // Nothing is left unfinished in PostgreSQL.
  }

  learn({ before, after, moves }: RefsChange): void {
    this.told += 1;
    if (after === null) this.noteId(null);
    if (after !== null && this.own.delete(after)) return;
    const { known } = this;
    if (known === undefined) return;
    const state = known?.repository.state ?? null;
    if (known && state === before && after !== null && moves !== null)
      this.known = { repository: { ...known.repository, state: after }, refs: withMoves(known.refs, moves) };
    else if (state !== after) this.isDoubted = true;
  }

  doubt(): void {
    this.isDoubted = true;
    this.own.clear();
  }

  /** What holds for the lock's holder, who sees what it has done. */
  private get now(): Committed | Staged | null {
    return this.staged ?? this.known ?? null;
  }

  private stage(moves: readonly RefMove[]): void {
    const base = this.staged ?? this.known;
    if (!base) throw missingRepository();
    this.staged = {
      isNew: this.staged?.isNew ?? false,
      repository: base.repository,
      moves: [...(this.staged?.moves ?? []), ...moves],
      refs: withMoves(base.refs, moves),
      shallow: this.staged?.shallow ?? null,
    };
  }

  private unstage(): void {
    const wasNew = this.staged?.isNew === true;
    this.staged = null;
    this.sent = null;
    if (wasNew) this.noteId(this.known?.repository.id ?? null);
  }

  /** What is told of an earlier repository of the name must not hide the one that is being made. */
  private noteId(id: string | null): void {
    if (this.staged?.isNew !== true) this.shared.noteId(this.gitdir, id);
  }

  /** One reading follows the other, so that none puts what is older in place of what is newer. */
  private renew(): Promise<void> {
    const renewed = this.lastRenewal.then(() => this.renewNow());
    this.lastRenewal = renewed.catch(() => undefined);
    return renewed;
  }

  /** Reads all refs, unless the state says that they are known. */
  private async renewNow(): Promise<void> {
    const { told, known } = this;
    const found = known === undefined ? undefined : await this.shared.reader.find(this.ref);
    if (known === undefined || found?.state !== known?.repository.state) {
      const read = (await this.shared.reader.refs(this.ref)) ?? null;
      // What was committed or told meanwhile may be newer than what was read.
      if (this.known === known) this.known = read;
      this.noteId(this.known?.repository.id ?? null);
    }
    this.isDoubted = told !== this.told;
  }
}

function withMoves(refs: Refs, moves: readonly RefMove[]): Refs {
  const moved = new Map(refs);
  for (const { name, to } of moves) {
    if (to === null) moved.delete(name);
    else moved.set(name, to);
  }
  return moved;
}

/** One move for each ref that has another value in the end. */
function joined(moves: readonly RefMove[]): RefMove[] {
  const byName = new Map<string, RefMove>();
  for (const move of moves) {
    const first = byName.get(move.name) ?? move;
    byName.set(move.name, { ...first, to: move.to });
  }
  return [...byName.values()].filter(({ from, to }) => from !== to);
}

function changedMeanwhile(): Error {
  return conflict('versions_changed', 'A version was changed by another program meanwhile; try again.');
}
