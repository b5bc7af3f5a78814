/**
 * The outbox of webhooks. An event stays in it until it was delivered, or was tried for a day. Of each subject the first
 * event alone has a time at which it is due; when it is over, the next one gets one. So a subject's events go in order.
 */

import type { Database, Db } from '../db/database.ts';
import { DAY, SECOND } from '../lib/clock.ts';

const FIRST_PAUSE = 5 * SECOND;
/** For so long after an event was put into the outbox it is tried again. One that had to wait longer is tried once. */
const PATIENCE = DAY;

/** A delivery that is due, with its event. */
export type DueDelivery = Awaited<ReturnType<typeof dueDeliveries>>[number];

/** How an attempt ended. */
export interface Outcome {
  isDelivered: boolean;
  /** Null where nobody answered. */
  status: number | null;
  /** A short code, such as `ECONNREFUSED`; null where it was delivered. */
  error: string | null;
}

/** The webhooks to which events are sent. */
export function activeWebhooks(db: Db) {
  return db.selectFrom('webhooks').select(['id', 'url', 'secret']).where('is_active', '=', 1).execute();
}

/** The deliveries to a webhook that are due, those first that have been due for longest. */
export function dueDeliveries(db: Db, webhookId: string, now: number, most: number) {
  return db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('events as e', 'e.position', 'd.position')
    .select(['d.id', 'd.webhook_id', 'd.subject', 'd.position', 'd.attempts', 'd.created_at'])
    .select(['e.id as eventId', 'e.type', 'e.time', 'e.data'])
    .where('d.webhook_id', '=', webhookId)
    .where('d.due_at', '<=', now)
    .orderBy('d.due_at')
    .orderBy('d.position')
    .limit(most)
    .execute();
}

/**
 * Notes how an attempt ended. A power cut may undo it, and the event is sent once more then.
 * @returns the state of the delivery, or null where somebody else has changed it meanwhile
 */
export function noteOutcome(
  { writeUnflushed }: Database,
  delivery: DueDelivery,
  { isDelivered, status, error }: Outcome,
  now: number,
): Promise<'Pending' | 'Delivered' | 'Failed' | null> {
  const attempts = delivery.attempts + 1;
  const end = delivery.created_at + PATIENCE;
  const state = isDelivered ? 'Delivered' : now < end ? 'Pending' : 'Failed';
  const dueAt = state === 'Pending' ? Math.min(now + pauseAfter(attempts), end) : null;
  return writeUnflushed.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('webhook_deliveries')
      .set({ state, attempts, due_at: dueAt, last_attempt_at: now, last_status: status, last_error: error })
      .where('id', '=', delivery.id)
      .where('attempts', '=', delivery.attempts)
      .where('due_at', 'is not', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return null;
    if (dueAt === null) await callNext(trx, delivery, now);
    return state;
  });
}

/** The pause before the next attempt doubles with each one. */
const pauseAfter = (attempts: number) => FIRST_PAUSE * 2 ** Math.min(attempts - 1, 20);

/** Makes the next event of a subject due. No event of it may be. */
export async function callNext(
  trx: Db,
  { webhook_id, subject }: { webhook_id: string; subject: string },
  now: number,
): Promise<void> {
  const next = await trx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', '=', webhook_id)
    .where('subject', '=', subject)
    .where('state', '=', 'Pending')
    .orderBy('position')
    .executeTakeFirst();
  if (next === undefined) return;
  await trx.updateTable('webhook_deliveries').set({ due_at: now }).where('id', '=', next.id).execute();
}

/** Begins a delivery anew, as if its event had come just now. It waits where another one of its subject is on its way. */
export async function redeliver(trx: Db, id: string, now: number): Promise<void> {
  const delivery = await trx
    .updateTable('webhook_deliveries')
    .set({ state: 'Pending', attempts: 0, created_at: now, last_error: null, last_status: null })
    .where('id', '=', id)
    .returning(['webhook_id', 'subject'])
    .executeTakeFirstOrThrow();
  const first = await trx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('webhook_id', '=', delivery.webhook_id)
    .where('subject', '=', delivery.subject)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  if (first === undefined) await callNext(trx, delivery, now);
  // One that was waiting for its next attempt is tried at once.
  else if (first.id === id)
    await trx.updateTable('webhook_deliveries').set({ due_at: now }).where('id', '=', id).execute();
}
