/** Reads of the audit trail, and the removal of what is too old. */

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { AUDIT_ACTIONS, SYSTEM_NAMES } from '../domain/audit-actions.ts';
import { matchesGlob } from '../domain/event-types.ts';
import { HawserError } from '../lib/errors.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { type EntryNames, idsNamed, withNames } from './entry-names.ts';
import { newestPage, newestSlices, type Period, SLICE, slicesOf, whereGiven, within } from './history.ts';
import { countRows, type Page, type PageQuery } from './rows.ts';
import type { AuditEntriesTable } from './schema.ts';

export type AuditEntryRow = Selectable<AuditEntriesTable> & EntryNames;

/** What `after` says for the beginning, where no entry goes before. */
export const BEGINNING = '0';

/** Which entries are asked for. Actions may have stars; actors and resources are named in lower case, or by id. */
export interface AuditQuery extends PageQuery, Period {
  action?: readonly string[] | undefined;
  actor?: readonly string[] | undefined;
  resource?: readonly string[] | undefined;
  resourceType?: string | undefined;
  resourceId?: string | undefined;
  userId?: string | undefined;
  /** Only what was written after the entry with this id, or `BEGINNING`. */
  after?: string | undefined;
}

/**
 * Lists the entries that match, newest first, or with `after` oldest first. In the first case one filter, with or without
 * times, is enough for matching, counting and skipping to stay within an index.
 * @throws HawserError gone `audit_gone` for an `after` that is not in the trail
 */
export async function listEntries(db: Db, filter: AuditQuery): Promise<Page<AuditEntryRow>> {
  const { after, take, skip } = filter;
  const matching = await matchingEntries(db, filter);
  if (after === undefined) {
    const { rows, total } = await newestPage(matching, db.selectFrom('audit_entries').selectAll(), filter);
    return { rows: await withNames(db, rows), total };
  }
  const following = matching.where('seq', '>', await seqOf(db, after));
  const rows = await following.selectAll().orderBy('seq').limit(take).offset(skip).execute();
  return { rows: await withNames(db, rows), total: await countRows(following) };
}

/** All entries that match, in slices and in the order of `listEntries`. @throws HawserError as `listEntries` */
export async function allEntries(db: Db, filter: AuditQuery): Promise<AsyncGenerator<AuditEntryRow[]>> {
  const { after } = filter;
  const matching = await matchingEntries(db, filter);
  if (after === undefined)
    return named(db, newestSlices(matching, db.selectFrom('audit_entries').selectAll()));
  const first = await seqOf(db, after);
  return slicesOf((place) => {
    const following = matching.where('seq', '>', place?.seq ?? first);
    return following
      .selectAll()
      .orderBy('seq')
      .limit(SLICE)
      .execute()
      .then((rows) => withNames(db, rows));
  });
}

async function* named(db: Db, slices: AsyncIterable<Selectable<AuditEntriesTable>[]>) {
  for await (const rows of slices) yield await withNames(db, rows);
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

async function matchingEntries(db: Db, filter: AuditQuery) {
  const { action, resourceType, resource, resourceId, actor, userId } = filter;
  const entries = whereGiven(within(db.selectFrom('audit_entries'), filter), {
    resource_type: resourceType,
    resource_id: resourceId,
    actor_id: userId,
  });
  const { isOneOf } = engineOf(db);
  const ofActions = action ? entries.where(isOneOf('action', actionsLike(action))) : entries;
  const ofResources = resource
    ? ofActions.where(isOneOf('resource_id', await idsNamed(db, resource)))
    : ofActions;
  return actor ? ofResources.where(await isBy(db, actor)) : ofResources;
}

/** Whether one of these has acted. What the server does by itself has a name and no id. */
async function isBy(db: Db, actors: readonly string[]): Promise<RawBuilder<SqlBool>> {
  const { isOneOf } = engineOf(db);
  const ids = await idsNamed(db, actors);
  const byIds = isOneOf('actor_id', ids);
  const servers = Object.values(SYSTEM_NAMES).filter((name) => actors.includes(name));
  if (servers.length === 0) return byIds;
  const byServer = sql<SqlBool>`(actor_id is null and ${isOneOf('actor_name', servers)})`;
  return ids.length === 0 ? byServer : sql<SqlBool>`(${byIds} or ${byServer})`;
}

/** The actions that any of the globs means. What is no glob may be an action of another release. */
const actionsLike = (globs: readonly string[]): string[] =>
  globs.flatMap((glob) =>
    glob.includes('*') ? Object.keys(AUDIT_ACTIONS).filter((action) => matchesGlob(glob, action)) : glob,
  );

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
