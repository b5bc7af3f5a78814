/** The deliveries of a webhook: their list, and beginning one anew. */

import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { pageOf } from '../../db/rows.ts';
import { redeliver } from '../../events/outbox.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import { WEBHOOKS } from './queries.ts';
import type { DeliveryFilter } from './schemas.ts';

type DeliveryRow = Awaited<ReturnType<typeof listDeliveries>>['rows'][number];

function deliveriesOf(db: Db, webhookId: string) {
  return db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('events as e', 'e.position', 'd.position')
    .select(['d.id', 'e.id as eventId', 'e.type', 'd.subject', 'd.state', 'd.attempts', 'd.created_at'])
    .select(['d.last_attempt_at', 'd.due_at', 'd.last_status', 'd.last_error'])
    .where('d.webhook_id', '=', webhookId);
}

/** Those of the newest event come first. @throws HawserError not_found */
export async function listDeliveries(db: Db, webhookId: string, query: z.output<typeof DeliveryFilter>) {
  await WEBHOOKS.require(db, webhookId);
  const all = deliveriesOf(db, webhookId).orderBy('d.position', 'desc');
  return pageOf(query.state === undefined ? all : all.where('d.state', '=', query.state), query);
}

/** @throws HawserError not_found */
export async function redeliverOne(
  trx: Db,
  { actor }: Caller,
  { id: webhookId, deliveryId }: { id: string; deliveryId: string },
): Promise<DeliveryRow> {
  const find = () => deliveriesOf(trx, webhookId).where('d.id', '=', deliveryId).executeTakeFirst();
  if ((await find()) === undefined) throw notFound('No such delivery');
  await redeliver(trx, deliveryId, actor.at);
  const row = (await find()) as DeliveryRow;
  const details = { deliveryId, eventId: row.eventId, type: row.type };
  await recordAudit(trx, actor, { action: 'webhook.redelivered', resourceId: webhookId, details });
  return row;
}

export function toDelivery(row: DeliveryRow) {
  const { id, eventId, type, subject, state, attempts } = row;
  return {
    ...{ id, eventId, type, subject, state, attempts },
    createdAt: toTimestamp(row.created_at),
    lastAttemptAt: toOptionalTimestamp(row.last_attempt_at),
    nextAttemptAt: toOptionalTimestamp(row.due_at),
    lastStatus: row.last_status,
    lastError: row.last_error,
  };
}
