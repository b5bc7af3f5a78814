/** Reads and writes of previews and of the pieces of what they found. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { PreviewPiecesTable, PreviewsTable } from '../../db/preview-tables.ts';

export type PreviewRow = Selectable<PreviewsTable>;
export type PieceRow = Selectable<PreviewPiecesTable>;

/** Why a preview failed that nobody goes on with. */
export const INTERRUPTED = 'The server ended while the preview was made; ask for it again.';

/** How many nodes a preview has counted. */
export type CountColumns = Pick<
  PreviewRow,
  'nodes' | 'changed' | 'unchanged' | 'unresolvable' | 'not_visible'
>;

/** The number of previews that are made or wait. */
export async function countRunning(db: Db): Promise<number> {
  const rows = db.selectFrom('previews').select((of) => of.fn.countAll<number>().as('count'));
  return (await rows.where('state', '=', 'Running').executeTakeFirstOrThrow()).count;
}

/** The number of nodes that there are, from the counts that triggers keep. */
export async function countNodes(db: Db): Promise<number> {
  const counts = db.selectFrom('node_counts').select((of) => of.fn.sum<number | null>('count').as('count'));
  return (await counts.executeTakeFirstOrThrow()).count ?? 0;
}

export async function insertPreview(db: Db, row: PreviewRow): Promise<void> {
  await db.insertInto('previews').values(row).execute();
}

/** A preview that is still there. @param now epoch milliseconds */
export function findPreview(db: Db, id: string, now: number): Promise<PreviewRow | undefined> {
  return db
    .selectFrom('previews')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Shows how far a preview is. */
export async function updateCounts(db: Db, id: string, counts: CountColumns): Promise<void> {
  await db.updateTable('previews').set(counts).where('id', '=', id).where('state', '=', 'Running').execute();
}

/** Ends a preview that is Running. @returns whether it was */
export async function endPreview(
  db: Db,
  id: string,
  end: Pick<PreviewRow, 'state' | 'completed_at' | 'error'> &
    Partial<CountColumns & Pick<PreviewRow, 'group_count'>>,
): Promise<boolean> {
  const update = db.updateTable('previews').set(end).where('id', '=', id).where('state', '=', 'Running');
  return (await update.executeTakeFirst()).numUpdatedRows > 0n;
}

/** The servers that make previews, or made some that are Running still. */
export async function listMakers(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('previews')
    .select('maker')
    .distinct()
    .where('state', '=', 'Running')
    .execute();
  return rows.map(({ maker }) => maker);
}

/** Ends the previews of a server that has ended. */
export async function endPreviewsOf(db: Db, maker: string, now: number): Promise<void> {
  await db
    .updateTable('previews')
    .set({ state: 'Failed', completed_at: now, error: INTERRUPTED })
    .where('maker', '=', maker)
    .where('state', '=', 'Running')
    .execute();
}

export async function insertPiece(db: Db, piece: PieceRow): Promise<void> {
  await db.insertInto('preview_pieces').values(piece).execute();
}

/** What there is in each piece of a kind, in the order of the pieces. */
export function listPieces(db: Db, id: string, kind: string) {
  return db
    .selectFrom('preview_pieces')
    .select(['position', 'count', 'changed', 'unresolvable'])
    .where('preview_id', '=', id)
    .where('kind', '=', kind)
    .orderBy('position')
    .execute();
}

/** The content of a piece; undefined where there is none. */
export async function readPiece(
  db: Db,
  id: string,
  kind: string,
  position: number,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('preview_pieces')
    .select('content')
    .where('preview_id', '=', id)
    .where('kind', '=', kind)
    .where('position', '=', position)
    .executeTakeFirst();
  return row?.content;
}

/** A preview whose time is over. One that is Running is left to whoever makes it. */
export async function findExpired(db: Db, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('previews')
    .select('id')
    .where('expires_at', '<=', now)
    .where('state', '<>', 'Running')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Deletes a few pieces of a preview, or the preview itself once it has none.
 * @returns whether it is gone
 */
export async function deleteSlice(trx: Db, id: string, pieces: number): Promise<boolean> {
  const next = trx
    .selectFrom('preview_pieces')
    .select(['kind', 'position'])
    .where('preview_id', '=', id)
    .limit(pieces);
  const { numDeletedRows } = await trx
    .deleteFrom('preview_pieces')
    .where('preview_id', '=', id)
    .where(({ eb, refTuple }) => eb(refTuple('kind', 'position'), 'in', next.$asTuple('kind', 'position')))
    .executeTakeFirst();
  if (numDeletedRows > 0n) return false;
  await trx.deleteFrom('previews').where('id', '=', id).execute();
  return true;
}
