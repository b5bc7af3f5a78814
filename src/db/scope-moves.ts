/**
 * The deeds by which a scope type or value gets another name, or goes with its parameter files. Each is noted before the
 * first repository follows, so that whoever finds it unfinished can end it: what the row of the scope says, holds.
 */

import type { Db } from './schema.ts';
import type { ScopeMovesTable } from './scope-move-tables.ts';

/** All moves that are known, the oldest first. There are few. */
export function listScopeMoves(db: Db): Promise<ScopeMovesTable[]> {
  return db.selectFrom('scope_moves').selectAll().orderBy('started_at').orderBy('id').execute();
}

export async function noteScopeMove(db: Db, move: ScopeMovesTable): Promise<void> {
  await db.insertInto('scope_moves').values(move).execute();
}

export async function dropScopeMove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('scope_moves').where('id', '=', id).execute();
}

/** Notes that all repositories have followed. What was done before `forgotten` is not remembered any longer. */
export async function endScopeMove(
  db: Db,
  id: string,
  { now, forgotten }: { now: number; forgotten: number },
): Promise<void> {
  await db.updateTable('scope_moves').set({ done_at: now }).where('id', '=', id).execute();
  await db.deleteFrom('scope_moves').where('done_at', '<', forgotten).execute();
}
