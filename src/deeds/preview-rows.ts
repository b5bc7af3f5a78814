/** Reads and writes of previews and of what they found. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { PreviewsTable } from '../db/preview-tables.ts';
import { toBuffer } from '../resolve/compare-weight.ts';
import type { PreviewCounts, PreviewResult } from '../resolve/preview-types.ts';

export type PreviewRow = Selectable<PreviewsTable>;

/** Why a preview failed that nobody goes on with. */
export const INTERRUPTED = 'The server ended while the preview was made; ask for it again.';

/** How many nodes a preview has counted. */
export type CountColumns = Pick<
  PreviewRow,
  'nodes' | 'changed' | 'unchanged' | 'unresolvable' | 'not_visible'
>;

export function toColumns({ notVisible, ...counts }: PreviewCounts): CountColumns {
  return { ...counts, not_visible: notVisible };
}

/** The number of previews that are made or wait. */
export async function countRunning(db: Db): Promise<number> {
  const rows = db.selectFrom('previews').select((of) => of.fn.countAll<number>().as('count'));
  return (await rows.where('state', '=', 'Running').executeTakeFirstOrThrow()).count;
}

/** The number of nodes that there are. */
export async function countNodes(db: Db): Promise<number> {
  const nodes = db.selectFrom('nodes').select((of) => of.fn.countAll<number>().as('count'));
  return (await nodes.executeTakeFirstOrThrow()).count;
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

/** So many bytes of each column are written in a few milliseconds. */
const PART = 256 * 1024;

/** Keeps what a preview found. */
export async function insertResult(
  db: Db,
  id: string,
  { contents, columns }: Pick<PreviewResult, 'contents' | 'columns'>,
): Promise<void> {
  const { groups, nodes, details } = columns;
  const longest = Math.max(groups.length, nodes.length, details.length);
  for (let position = 0; position * PART < longest; position += 1) {
    const part = (column: Uint8Array) => toBuffer(column.subarray(position * PART, (position + 1) * PART));
    const parts = { groups: part(groups), nodes: part(nodes), details: part(details) };
    const row = { preview_id: id, position, contents: position === 0 ? contents : '', ...parts };
    await db.insertInto('preview_results').values(row).execute();
    // Lets polls through between two rows.
    await nextTurn();
  }
}

/** What the nodes of a preview get, as JSON: an empty list until that is known. */
export async function readContents(db: Db, id: string): Promise<string> {
  const rows = db.selectFrom('preview_results').select('contents').where('preview_id', '=', id);
  return (await rows.where('position', '=', 0).executeTakeFirst())?.contents ?? '[]';
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

export async function deletePreview(trx: Db, id: string): Promise<void> {
  await trx.deleteFrom('preview_results').where('preview_id', '=', id).execute();
  await trx.deleteFrom('previews').where('id', '=', id).execute();
}
