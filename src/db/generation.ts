/** Raises the generation when refs have moved, so that every cached answer about them is looked at anew. */

import type { Db } from './open.ts';

/**
 * For a configuration or composite the registry row's `updated_at` moves, whose triggers raise the generation and note
 * the change in the same commit. While a repository is being created there is no row yet: its insert does.
 */
export async function noteRefsMoved(
  db: Db,
  repository: { kind: 'configurations' | 'composites' | 'parameters'; name: string },
  now: number,
): Promise<void> {
  const { kind, name } = repository;
  if (kind === 'parameters') {
    await db.insertInto('changes').values({ kind, key: name }).execute();
    return;
  }
  await db.updateTable(kind).set({ updated_at: now }).where('name', '=', name).execute();
}
