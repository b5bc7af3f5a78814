/** Raises the generation when refs have moved, so that every cached answer about them is looked at anew. */

import type { Db } from './open.ts';

/**
 * For a configuration or composite the registry row's `updated_at` moves, whose trigger raises the generation
 * in the same commit. While a repository is being created there is no row yet: its insert raises it.
 */
export async function noteRefsMoved(
  db: Db,
  repository: { kind: 'configurations' | 'composites' | 'parameters'; name: string },
  now: number,
): Promise<void> {
  if (repository.kind === 'parameters') {
    await db
      .updateTable('generation')
      .set((old) => ({ value: old('value', '+', 1) }))
      .execute();
    return;
  }
  await db
    .updateTable(repository.kind)
    .set({ updated_at: now })
    .where('name', '=', repository.name)
    .execute();
}
