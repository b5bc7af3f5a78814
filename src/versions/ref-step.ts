/**
 * Moves of refs in several repositories that are made in one step, with what is written in the database. Nobody sees some of
 * them without the others: neither who reads versions here, nor who clones one of the repositories.
 */

import type { Db } from '../db/database.ts';
import type { OtherMoves, RefBackend } from '../git/ref-backend.ts';
import type { PeeledMove, ReadyMoves } from '../git/refs.ts';
import type { RepositoryRef } from '../git/types.ts';
import type { Repository, StagedRepository } from './repository.ts';
import { versionsMoved } from './write-conflicts.ts';

/** A repository of the step, as others see it and as the step does. */
export interface StepRepository extends StagedRepository {
  base: Repository;
}

/** What one repository gets by the step. */
export interface StepEffect {
  repository: RepositoryRef;
  moves: readonly PeeledMove[];
}

export class RefStep<S> {
  /** The versions as the step sees and writes them. */
  readonly store: S;
  private readonly repositories: readonly StepRepository[];

  constructor(store: S, repositories: readonly StepRepository[]) {
    this.store = store;
    this.repositories = repositories;
  }

  /** What the step would change as far as it was made. */
  async effects(): Promise<StepEffect[]> {
    const effects: StepEffect[] = [];
    for (const { base, repository, refs } of this.repositories) {
      if (refs.moves.length === 0) continue;
      await repository.refreshAfterWrite();
      const moves = refs.moves.map((move) => ({ ...move, peeled: peel(repository, move) }));
      effects.push({ repository: base.ref, moves });
    }
    return effects;
  }

  /**
   * Makes the moves ready. `ReadyStep.end` must be called whatever becomes of them.
   * @param first are made before all others, and flushed before they are
   * @throws HawserError conflict `versions_changed` where another program has moved a ref
   */
  async ready(effects: readonly StepEffect[], first: OtherMoves): Promise<ReadyStep> {
    const step = new ReadyStep();
    try {
      await step.add(first.refs, first.moves);
      for (const { repository, moves } of effects) {
        const found = this.repositories.find(({ base }) => base.ref === repository);
        if (found) await step.add(found.base.refs, moves, found);
      }
      return step;
    } catch (error) {
      await step.end();
      throw error;
    }
  }
}

/** What an annotated tag leads to in the end. */
function peel({ known }: Repository, { name, to }: PeeledMove): string | null {
  if (to === null || name.startsWith('refs/heads/')) return null;
  const commit = known?.commitOf(name, to) ?? null;
  if (commit === null) throw versionsMoved();
  return commit;
}

interface ReadyRepository {
  refs: RefBackend;
  ready: ReadyMoves;
  /** Null for a repository that holds no versions. */
  versions: StepRepository | null;
}

/** Moves that are ready to be made. */
export class ReadyStep {
  private readonly all: ReadyRepository[] = [];
  private readonly takenBack: (() => void)[] = [];

  async add(refs: RefBackend, moves: readonly PeeledMove[], versions: StepRepository | null = null) {
    const ready = await refs.ready(moves);
    if (ready === null) throw versionsMoved();
    this.all.push({ refs, ready, versions });
  }

  /**
   * Makes all moves, as the last thing before the transaction is committed to which they belong. In folders that is one piece of
   * work, in which nothing else runs in this process: the first repository is flushed, and the others are renamed.
   */
  async commit(trx: Db): Promise<void> {
    const [first] = this.all;
    for (const { ready, refs } of this.all)
      if (refs.isTransactional) {
        ready.make();
        await refs.commit(trx);
      }
    if (first?.refs.isTransactional) return;
    try {
      first?.ready.make();
      first?.ready.flushNow();
      for (const { ready } of this.all.slice(1)) ready.make();
      this.adopt();
    } catch (error) {
      this.takeBack();
      throw error;
    }
  }

  /** Takes the moves in folders back, where the transaction was not committed. Those in PostgreSQL were not made. */
  takeBack(): void {
    for (const undo of this.takenBack.splice(0)) undo();
    for (const { ready } of this.all.toReversed()) ready.takeBack();
  }

  /** To be called as soon as the transaction is committed. */
  settle(): void {
    if (!this.all.some(({ refs }) => refs.isTransactional)) return;
    for (const { refs } of this.all) refs.settle();
    this.adopt();
  }

  /** Flushes what was made. */
  async flush(): Promise<void> {
    for (const { ready } of this.all) await ready.flush();
  }

  async end(): Promise<void> {
    for (const { ready } of this.all) await ready.end();
  }

  private adopt(): void {
    for (const { versions } of this.all)
      if (versions) this.takenBack.push(versions.base.adopt(versions.repository));
  }
}
