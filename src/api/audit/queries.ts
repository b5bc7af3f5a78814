/** Reads of the audit trail, and the removal of what is too old. */

import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import type { AuditEntriesTable } from '../../db/schema.ts';
import { newestPage, newestSlices, whereGiven, within } from '../crud/history.ts';
import { countRows, type Page } from '../crud/rows.ts';
import type { AuditFilter } from './schemas.ts';

export type AuditEntryRow = Selectable<AuditEntriesTable>;

type Filter = z.output<typeof AuditFilter>;

/**
 * Lists the entries that match, newest first. As long as one filter is given, with or without times, matching, counting
 * and skipping stay within an index.
 */
export function listEntries(db: Db, filter: Filter): Promise<Page<AuditEntryRow>> {
  return newestPage(matching(db, filter), db.selectFrom('audit_entries').selectAll(), filter);
}

/** All entries that match, newest first, in slices. */
export function allEntries(db: Db, filter: Filter): AsyncGenerator<AuditEntryRow[]> {
  return newestSlices(matching(db, filter), db.selectFrom('audit_entries').selectAll());
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
