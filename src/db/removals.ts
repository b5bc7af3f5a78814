/** Repositories that are to be removed: noted in the transaction that drops the row, struck out once it is done. */

import type { Db } from './open.ts';
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

export function listRemovals(db: Db): Promise<RepositoryRemovalsTable[]> {
  return db.selectFrom('repository_removals').selectAll().execute();
}
