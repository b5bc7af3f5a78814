/** Reads of the audit trail, and the removal of what is too old. */

import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { AuditEntriesTable } from '../../db/schema.ts';
import type { AuditFilter } from './schemas.ts';

export type AuditEntryRow = Selectable<AuditEntriesTable>;

/**
 * Entries that match, newest first; of one millisecond the one written last. Matching, counting and skipping stay
 * within an index as long as one filter is given, with or without times; whole rows are read of the page alone.
 */
export async function listEntries(
  db: Db,
  filter: z.output<typeof AuditFilter>,
): Promise<{ rows: AuditEntryRow[]; total: number }> {
  const matching = entriesThatMatch(db, filter);
  const { total } = await matching
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const shown = matching
    .select('seq')
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(filter.take)
    .offset(filter.skip);
  const rows = await db
    .selectFrom('audit_entries')
    .selectAll()
    .where('seq', 'in', shown)
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .execute();
  return { rows, total };
}

function entriesThatMatch(db: Db, filter: z.output<typeof AuditFilter>) {
  const { from, to, action, resourceType, resourceId, userId } = filter;
  let entries = db.selectFrom('audit_entries');
  if (from !== undefined) entries = entries.where('timestamp', '>=', from);
  if (to !== undefined) entries = entries.where('timestamp', '<=', to);
  if (action !== undefined) entries = entries.where('action', '=', action);
  if (resourceType !== undefined) entries = entries.where('resource_type', '=', resourceType);
  if (resourceId !== undefined) entries = entries.where('resource_id', '=', resourceId);
  if (userId !== undefined) entries = entries.where('actor_id', '=', userId);
  return entries;
}

export async function countEntriesBefore(db: Db, time: number): Promise<number> {
  const { count } = await db
    .selectFrom('audit_entries')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('timestamp', '<', time)
    .executeTakeFirstOrThrow();
  return count;
}

/** Deletes the oldest first. @returns how many there were to delete, at most `limit` */
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
