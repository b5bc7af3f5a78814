/** Reads the feed of events, and shows an event as others get it: a CloudEvents 1.0 envelope in JSON. */

import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { EventsTable } from '../db/event-tables.ts';
import { toTimestamp } from '../lib/clock.ts';

/** The most events of one answer. */
const PAGE = 200;

export type EventRow = Selectable<EventsTable>;

/** The position of the newest event; 0 where there is none. */
export async function newestPosition(db: Db): Promise<number> {
  const newest = db.selectFrom('events').select((of) => of.fn.max('position').as('position'));
  return (await newest.executeTakeFirst())?.position ?? 0;
}

/** @returns null where no event in the feed has this id */
export async function positionOf(db: Db, id: string): Promise<number | null> {
  const row = await db.selectFrom('events').select('position').where('id', '=', id).executeTakeFirst();
  return row?.position ?? null;
}

/** The events that follow a position, in the order of the feed. */
export function eventsAfter(db: Db, position: number): Promise<EventRow[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .where('position', '>', position)
    .orderBy('position')
    .limit(PAGE)
    .execute();
}

/**
 * CloudEvents 1.0, sections 3.1 and 3.2.
 * @param source which server it is from, as a URI or a path
 */
export function toEnvelope(row: Omit<EventRow, 'seq' | 'position'>, source: string) {
  const { id, type, subject, time, data } = row;
  return {
    ...{ specversion: '1.0', id, source, type, time: toTimestamp(time), subject },
    ...{ datacontenttype: 'application/json', data: JSON.parse(data) as Record<string, unknown> },
  };
}

/** What names this server in its events. Without a public address it is the path that all servers have. */
export function sourceOf({ publicUrl }: { publicUrl: string | null }): string {
  return publicUrl ?? '/api/v1';
}
