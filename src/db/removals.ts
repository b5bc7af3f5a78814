/** Repositories that are to be removed: noted in the transaction that drops the row, struck out once it is done. */

import type { Database, Db } from './open.ts';
import type { RepositoryRemovalsTable } from './schema.ts';

export async function noteRemoval(trx: Db, repository: RepositoryRemovalsTable): Promise<void> {
  const { kind, name } = repository;
  await trx
    .insertInto('repository_removals')
    .values({ kind, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Also in the transaction that makes a new row of this name: what it stands for now must not be removed. */
export async function strikeRemoval(trx: Db, repository: RepositoryRemovalsTable): Promise<void> {
  await trx
    .deleteFrom('repository_removals')
    .where('kind', '=', repository.kind)
    .where('name', '=', repository.name)
    .execute();
}

/**
 * Has those of these repositories removed that are noted, one after the other, and strikes them out; under the lock of
 * their name. After a failure the rest stays noted: whoever wants the name next goes on, or the next start does.
 */
export async function endRemovals(
  { read, write }: Pick<Database, 'read' | 'write'>,
  repositories: readonly RepositoryRemovalsTable[],
  remove: (repository: RepositoryRemovalsTable) => Promise<void>,
): Promise<void> {
  const noted = await listRemovals(read);
  for (const repository of repositories) {
    if (!noted.some(({ kind, name }) => kind === repository.kind && name === repository.name)) continue;
    await remove(repository);
    await strikeRemoval(write, repository);
  }
}

export function listRemovals(db: Db): Promise<RepositoryRemovalsTable[]> {
  return db.selectFrom('repository_removals').selectAll().execute();
}
