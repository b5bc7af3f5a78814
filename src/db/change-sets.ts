/** Rows of change sets. Who may see which of them is not decided here. */

import { type Selectable, sql } from 'kysely';
import type { ChangeSetApprovalsTable, ChangeSetState, ChangeSetsTable } from './change-set-tables.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

export type ChangeSetRow = Selectable<ChangeSetsTable>;
export type ChangeSetApprovalRow = Selectable<ChangeSetApprovalsTable>;

/** The id of the next set. One that is not used then is used by nobody. */
export async function nextChangeSetId(db: Db): Promise<number> {
  const { value } = await db
    .updateTable('change_set_counter')
    .set((of) => ({ value: of('value', '+', 1) }))
    .where('id', '=', 1)
    .returning('value')
    .executeTakeFirstOrThrow();
  return value;
}

/** The last id that was given to a set; 0 before the first. */
export async function lastChangeSetId(db: Db): Promise<number> {
  const counter = db.selectFrom('change_set_counter').select('value').where('id', '=', 1);
  return (await counter.executeTakeFirstOrThrow()).value;
}

export async function insertChangeSet(trx: Db, row: ChangeSetRow): Promise<void> {
  await trx.insertInto('change_sets').values(row).execute();
}

export function findChangeSet(db: Db, id: number): Promise<ChangeSetRow | undefined> {
  return db.selectFrom('change_sets').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * Changes a row that nobody has changed since it was read.
 * @returns the row as it is then; undefined, with nothing changed, where it has another version by now
 */
export function updateChangeSet(
  trx: Db,
  { id, row_version }: Pick<ChangeSetRow, 'id' | 'row_version'>,
  change: Partial<Omit<ChangeSetRow, 'id' | 'row_version'>>,
): Promise<ChangeSetRow | undefined> {
  return trx
    .updateTable('change_sets')
    .set({ ...change, row_version: row_version + 1 })
    .where('id', '=', id)
    .where('row_version', '=', row_version)
    .returningAll()
    .executeTakeFirst();
}

/** What a list of sets can be narrowed to. */
export interface ChangeSetFilter {
  ids?: readonly number[] | undefined;
  state?: ChangeSetState | undefined;
  /** The id of a user among its authors, or the name of who made it where nobody has that name any more. */
  author?: { id: string } | { name: string } | undefined;
  /** The ids of what one of its deeds names. */
  namesOneOf?: readonly string[] | undefined;
}

/** What tells who may see a set. */
export type ListedChangeSet = Pick<ChangeSetRow, 'id' | 'state' | 'deeds' | 'named'>;

/** All sets that match, newest first. */
export async function listChangeSets(
  db: Db,
  { ids, state, author, namesOneOf }: ChangeSetFilter,
): Promise<ListedChangeSet[]> {
  let rows = db.selectFrom('change_sets').select(['id', 'state', 'deeds', 'named']).orderBy('id', 'desc');
  if (ids !== undefined) rows = rows.where(engineOf(db).isOneOf('id', ids));
  if (state !== undefined) rows = rows.where('state', '=', state);
  if (author !== undefined)
    rows =
      'id' in author
        ? rows.where(hasText(db, 'authors', `"${author.id}"`))
        : rows.where('created_by', '=', author.name);
  if (namesOneOf !== undefined)
    rows = rows.where((of) => of.or(namesOneOf.map((id) => hasText(db, 'named', `"${id}"`))));
  return rows.execute();
}

/** The tips of the branches of all sets, by their ids. */
export async function readTips(db: Db): Promise<ReadonlyMap<number, string>> {
  const rows = await db.selectFrom('change_sets').select(['id', 'tip']).execute();
  return new Map(rows.map(({ id, tip }) => [id, tip]));
}

/** Notes the last preview of a set, which is no change of it. */
export async function rememberPreview(
  db: Db,
  id: number,
  preview: { id: string; digest: string },
): Promise<void> {
  const columns = { preview_id: preview.id, preview_digest: preview.digest };
  await db.updateTable('change_sets').set(columns).where('id', '=', id).execute();
}

export async function findChangeSets(db: Db, ids: readonly number[]): Promise<ChangeSetRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('change_sets')
    .selectAll()
    .where(engineOf(db).isOneOf('id', ids))
    .orderBy('id', 'desc')
    .execute();
}

/** The approvals of these sets, in the order in which they were given. */
export async function listApprovals(db: Db, ids: readonly number[]): Promise<ChangeSetApprovalRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('change_set_approvals')
    .selectAll()
    .where(engineOf(db).isOneOf('set_id', ids))
    .orderBy('at')
    .orderBy('user_id')
    .execute();
}

/** Saves an approval in place of an earlier one of the same person. */
export async function insertApproval(trx: Db, approval: ChangeSetApprovalRow): Promise<void> {
  await deleteApproval(trx, approval);
  await trx.insertInto('change_set_approvals').values(approval).execute();
}

export async function deleteApproval(
  trx: Db,
  { set_id, user_id }: Pick<ChangeSetApprovalRow, 'set_id' | 'user_id'>,
): Promise<void> {
  const approvals = trx.deleteFrom('change_set_approvals').where('set_id', '=', set_id);
  await approvals.where('user_id', '=', user_id).execute();
}

export async function deleteApprovals(trx: Db, id: number): Promise<void> {
  await trx.deleteFrom('change_set_approvals').where('set_id', '=', id).execute();
}

/** The sets whose application may have been cut off. */
export function listPendingSets(db: Db): Promise<ChangeSetRow[]> {
  return db
    .selectFrom('change_sets')
    .selectAll()
    .where('pending_moves', 'is not', null)
    .orderBy('id')
    .execute();
}

/** What is kept of the sets that were applied at this moment, in epoch milliseconds. */
export function findSetsAppliedAt(
  db: Db,
  at: number,
): Promise<Pick<ChangeSetRow, 'deeds' | 'named' | 'protection'>[]> {
  return db
    .selectFrom('change_sets')
    .select(['deeds', 'named', 'protection'])
    .where('state', '=', 'Applied')
    .where('applied_at', '=', at)
    .execute();
}

/** The scheduled sets whose time has come, the earliest first. */
export function listDueSets(db: Db, now: number): Promise<ChangeSetRow[]> {
  return db
    .selectFrom('change_sets')
    .selectAll()
    .where('state', '=', sql.lit('Scheduled'))
    .where('apply_at', '<=', now)
    .orderBy('apply_at')
    .orderBy('id')
    .execute();
}

/** The deeds of the sets that may still be applied, as JSON. */
export async function listOpenDeeds(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('change_sets')
    .select('deeds')
    .where('state', 'in', ['Open', 'Scheduled'])
    .execute();
  return rows.map(({ deeds }) => deeds);
}

const hasText = (db: Db, column: 'authors' | 'named', text: string) =>
  sql<boolean>`${engineOf(db).placeIn(sql.ref(column), text)} > 0`;
