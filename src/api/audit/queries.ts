/** Reads of the audit trail, and the removal of what is too old. */

import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import type { AuditEntriesTable } from '../../db/schema.ts';
import { HawserError } from '../../lib/errors.ts';
import { newestPage, newestSlices, SLICE, slicesOf, whereGiven, within } from '../crud/history.ts';
import { countRows, type Page } from '../crud/rows.ts';
import { type AuditFilter, BEGINNING } from './schemas.ts';

export type AuditEntryRow = Selectable<AuditEntriesTable>;

type Filter = z.output<typeof AuditFilter>;

/**
 * Lists the entries that match, newest first, or with `after` oldest first. In the first case one filter, with or without
 * times, is enough for matching, counting and skipping to stay within an index.
 * @throws HawserError gone `audit_gone` for an `after` that is not in the trail
 */
export async function listEntries(db: Db, filter: Filter): Promise<Page<AuditEntryRow>> {
  const { after, take, skip } = filter;
  if (after === undefined)
    return newestPage(matching(db, filter), db.selectFrom('audit_entries').selectAll(), filter);
  const following = matching(db, filter).where('seq', '>', await seqOf(db, after));
  const rows = await following.selectAll().orderBy('seq').limit(take).offset(skip).execute();
  return { rows, total: await countRows(following) };
}

/** All entries that match, in slices and in the order of `listEntries`. @throws HawserError as `listEntries` */
export async function allEntries(db: Db, filter: Filter): Promise<AsyncGenerator<AuditEntryRow[]>> {
  const { after } = filter;
  if (after === undefined)
    return newestSlices(matching(db, filter), db.selectFrom('audit_entries').selectAll());
  const first = await seqOf(db, after);
  return slicesOf((place) => {
    const following = matching(db, filter).where('seq', '>', place?.seq ?? first);
    return following.selectAll().orderBy('seq').limit(SLICE).execute();
  });
}

/**
 * The number of an entry. Entries are written in turn: on SQLite one process writes at a time, and on PostgreSQL a
 * transaction begins once the one before has ended (`takesTurns` in db/postgres/work.ts). So the numbers are in the order
 * of the commits, and nobody who has seen one entry has missed one with a lower number.
 */
async function seqOf(db: Db, after: string): Promise<number> {
  if (after === BEGINNING) return 0;
  const row = await db.selectFrom('audit_entries').select('seq').where('id', '=', after).executeTakeFirst();
  if (row !== undefined) return row.seq;
  const message =
    'The audit trail has no entry of this id, or none any more. Read it from its beginning, with after=0';
  throw new HawserError('gone', 'audit_gone', message);
}

function matching(db: Db, filter: Filter) {
  const { action, resourceType, resourceId, userId } = filter;
  return whereGiven(within(db.selectFrom('audit_entries'), filter), {
    action,
    resource_type: resourceType,
    resource_id: resourceId,
    actor_id: userId,
  });
}

export function countEntriesBefore(db: Db, time: number): Promise<number> {
  return countRows(db.selectFrom('audit_entries').where('timestamp', '<', time));
}

/** Deletes the oldest first. @returns how many were deleted, at most `limit` */
export async function deleteEntriesBefore(db: Db, time: number, limit: number): Promise<number> {
  const oldest = db
    .selectFrom('audit_entries')
    .select('seq')
    .where('timestamp', '<', time)
    .orderBy('timestamp')
    .limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('audit_entries')
    .where('seq', 'in', oldest)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
