/**
 * Changes of webhooks, and deliveries that are begun anew. The audit trail gets neither the secret nor the path, which may be
 * one too.
 */

import type { Db } from '../db/database.ts';
import { countRows } from '../db/rows.ts';
import { type DeliveryRow, deliveriesOf, WEBHOOKS, type WebhookRow } from '../db/webhooks.ts';
import { redeliver } from '../events/outbox.ts';
import { conflict, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';

/** Each has connections and deliveries of its own. */
const MOST_WEBHOOKS = 50;

/** Whom the server is to call, and with which events. */
export interface NewWebhook {
  url: string;
  /** Types of events, which may have stars. */
  events: readonly string[];
  isActive: boolean;
  secret: string;
}

/** An absent secret stays. */
export type WebhookChange = Omit<NewWebhook, 'secret'> & { secret?: string | null | undefined };

/** @throws HawserError conflict `too_many_webhooks` */
export async function createWebhook(trx: Db, { actor }: Caller, body: NewWebhook): Promise<WebhookRow> {
  if ((await countRows(trx.selectFrom('webhooks'))) >= MOST_WEBHOOKS)
    throw conflict('too_many_webhooks', `There are ${MOST_WEBHOOKS} webhooks already`);
  const row = await WEBHOOKS.insert(trx, {
    ...{ id: newId(), secret: body.secret, created_at: actor.at },
    ...columnsOf(body, actor.at),
  });
  const details = auditedOf(row);
  await recordAudit(trx, actor, { action: 'webhook.created', resourceId: row.id, details });
  return row;
}

/** @throws HawserError not_found */
export async function updateWebhook(
  trx: Db,
  { actor }: Caller,
  id: string,
  body: WebhookChange,
): Promise<WebhookRow> {
  const before = await WEBHOOKS.require(trx, id);
  const secret = body.secret ?? before.secret;
  const row = await WEBHOOKS.update(trx, id, { ...columnsOf(body, actor.at), secret });
  const details = { ...auditedOf(row), secretChanged: secret !== before.secret };
  await recordAudit(trx, actor, { action: 'webhook.updated', resourceId: id, details });
  return row;
}

/** Its deliveries go with it. @throws HawserError not_found */
export async function deleteWebhook(trx: Db, { actor }: Caller, id: string): Promise<void> {
  const details = auditedOf(await WEBHOOKS.require(trx, id));
  await WEBHOOKS.delete(trx, id);
  await recordAudit(trx, actor, { action: 'webhook.deleted', resourceId: id, details });
}

function columnsOf({ url, events, isActive }: Omit<NewWebhook, 'secret'>, now: number) {
  return { url, events: JSON.stringify(events), is_active: isActive ? 1 : 0, modified_at: now };
}

function auditedOf({ url, events, is_active }: WebhookRow) {
  return { receiver: new URL(url).origin, events: JSON.parse(events), isActive: is_active === 1 };
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
