/**
 * Gives new events their positions in the feed, and puts those that somebody wants into the outbox of webhooks.
 *
 * The numbers that rows get as they are written are not the order of the commits on PostgreSQL: a reader that has seen
 * number 8 could miss number 7, which is committed later. So one transaction at a time numbers what is committed.
 */

import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { matchesGlob } from '../domain/event-types.ts';
import { newOrderedId } from '../lib/ids.ts';
import { newestPosition } from './feed.ts';

/** Events per transaction, which so takes some milliseconds. */
const BATCH = 250;

interface Numbered {
  position: number;
  seq: number;
  type: string;
  subject: string;
}

/** Numbers a batch of new events, if there are any. @returns whether there may be more */
export async function numberEvents({ read, write }: Database, now: number): Promise<boolean> {
  // A look that finds nothing writes nothing.
  if ((await selectNew(read, 1)).length === 0) return false;
  const numbered = await write.transaction().execute((trx) => numberWithin(trx, now));
  return numbered === BATCH;
}

/** Two leaders may be at it for a moment, so what is new is read under the turn of the transaction. */
async function numberWithin(trx: Db, now: number): Promise<number> {
  const found = await selectNew(trx, BATCH);
  if (found.length === 0) return 0;
  const newest = await newestPosition(trx);
  const numbered = found.map((event, index) => ({ ...event, position: newest + 1 + index }));
  await sql`update events set position = cast(given.value ->> 1 as bigint)
    from ${engineOf(trx).rows(numbered.map(({ seq, position }) => [seq, position]))} given
    where events.seq = cast(given.value ->> 0 as bigint)`.execute(trx);
  await fillOutbox(trx, numbered, now);
  return numbered.length;
}

function selectNew(db: Db, most: number) {
  return db
    .selectFrom('events')
    .select(['seq', 'type', 'subject'])
    .where('position', 'is', null)
    .orderBy('seq')
    .limit(most)
    .execute();
}

async function fillOutbox(trx: Db, events: readonly Numbered[], now: number): Promise<void> {
  const webhooks = await trx
    .selectFrom('webhooks')
    .select(['id', 'events'])
    .where('is_active', '=', 1)
    .execute();
  const rows: unknown[][] = [];
  for (const { id, events: globs } of webhooks) {
    const wanted = (JSON.parse(globs) as string[]).map((glob) => (type: string) => matchesGlob(glob, type));
    const chosen = events.filter(({ type }) => wanted.some((matches) => matches(type)));
    const busy = await subjectsUnderWay(trx, id, chosen);
    for (const { position, subject } of chosen) {
      const dueAt = busy.has(subject) ? null : now;
      busy.add(subject);
      rows.push([newOrderedId(now), id, position, subject, dueAt, now]);
    }
  }
  if (rows.length > 0)
    await sql`insert into webhook_deliveries (id, webhook_id, position, subject, state, due_at, created_at)
      select value ->> 0, value ->> 1, cast(value ->> 2 as bigint), value ->> 3, 'Pending',
        cast(value ->> 4 as bigint), cast(value ->> 5 as bigint)
      from ${engineOf(trx).rows(rows)} given`.execute(trx);
}

/** An event waits while an earlier one of its subject is on its way to the same webhook. */
async function subjectsUnderWay(
  trx: Db,
  webhookId: string,
  events: readonly Numbered[],
): Promise<Set<string>> {
  const subjects = [...new Set(events.map(({ subject }) => subject))];
  const found = await trx
    .selectFrom('webhook_deliveries')
    .select('subject')
    .where('webhook_id', '=', webhookId)
    .where('due_at', 'is not', null)
    .where(engineOf(trx).isOneOf('subject', subjects))
    .execute();
  return new Set(found.map(({ subject }) => subject));
}
