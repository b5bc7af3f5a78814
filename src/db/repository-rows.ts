/** What the database notes of repositories: that their refs have moved, and that they are to be deleted. */

import type { Database, Db } from './database.ts';
import type { RepositoryRemovalsTable } from './schema.ts';

/**
 * Raises the generation after refs have moved, so that every cached answer about them is computed again. For a
 * configuration or composite this moves `updated_at` of its row, whose triggers raise the generation and note the change
 * in the same commit. A repository that is being created has no row yet; the insert of the row has the same effect.
 */
export async function noteRefsMoved(
  db: Db,
  { kind, name }: RepositoryRemovalsTable,
  now: number,
): Promise<void> {
  if (kind === 'parameters') await db.insertInto('changes').values({ kind, key: name }).execute();
  else await db.updateTable(kind).set({ updated_at: now }).where('name', '=', name).execute();
}

/** Notes that a repository is to be deleted, in the transaction that deletes its row. */
export async function notePendingDeletion(trx: Db, { kind, name }: RepositoryRemovalsTable): Promise<void> {
  await trx
    .insertInto('repository_removals')
    .values({ kind, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Takes the note back. This also belongs into the transaction that makes a new row of the same name, because the
 * repository that the name stands for from then on must not be deleted.
 */
export async function clearPendingDeletion(trx: Db, { kind, name }: RepositoryRemovalsTable): Promise<void> {
  await trx.deleteFrom('repository_removals').where('kind', '=', kind).where('name', '=', name).execute();
}

/**
 * Deletes those of these repositories whose deletion is noted, one after the other, and clears each note. The caller
 * holds the lock of their name. After a failure the rest stays noted; the next caller that wants the name goes on, or
 * the next start does.
 */
export async function finishPendingDeletions(
  { read, write }: Pick<Database, 'read' | 'write'>,
  repositories: readonly RepositoryRemovalsTable[],
  remove: (repository: RepositoryRemovalsTable) => Promise<void>,
): Promise<void> {
  const noted = await listPendingDeletions(read);
  for (const repository of repositories) {
    if (!noted.some(({ kind, name }) => kind === repository.kind && name === repository.name)) continue;
    await remove(repository);
    await clearPendingDeletion(write, repository);
  }
}

export function listPendingDeletions(db: Db): Promise<RepositoryRemovalsTable[]> {
  return db.selectFrom('repository_removals').selectAll().execute();
}
