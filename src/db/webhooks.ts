/** Queries of webhooks and of their deliveries. */

import type { Selectable } from 'kysely';
import type { Db } from './database.ts';
import type { WebhooksTable } from './event-tables.ts';
import { type PageQuery, pageOf, Table } from './rows.ts';

export type WebhookRow = Selectable<WebhooksTable>;

export const WEBHOOKS = new Table('webhooks', { order: ['created_at', 'id'], missing: 'No such webhook' });

export type DeliveryRow = Awaited<ReturnType<ReturnType<typeof deliveriesOf>['execute']>>[number];

/** @param webhookId the webhook whose deliveries they are */
export function deliveriesOf(db: Db, webhookId: string) {
  return db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('events as e', 'e.position', 'd.position')
    .select(['d.id', 'e.id as eventId', 'e.type', 'd.subject', 'd.state', 'd.attempts', 'd.created_at'])
    .select(['d.last_attempt_at', 'd.due_at', 'd.last_status', 'd.last_error'])
    .where('d.webhook_id', '=', webhookId);
}

/** Those of the newest event come first. @throws HawserError not_found */
export async function listDeliveries(
  db: Db,
  webhookId: string,
  query: PageQuery & { state?: DeliveryRow['state'] | undefined },
) {
  await WEBHOOKS.require(db, webhookId);
  const all = deliveriesOf(db, webhookId).orderBy('d.position', 'desc');
  return pageOf(query.state === undefined ? all : all.where('d.state', '=', query.state), query);
}
