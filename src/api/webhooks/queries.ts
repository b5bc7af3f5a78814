/** Reads and writes of webhooks. The audit trail gets neither the secret nor the path, which may be one too. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { WebhooksTable } from '../../db/event-tables.ts';
import { countRows, Table } from '../../db/rows.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import type { NewWebhook, WebhookChange } from './schemas.ts';

/** Each has connections and deliveries of its own. */
const MOST_WEBHOOKS = 50;

type WebhookRow = Selectable<WebhooksTable>;

export const WEBHOOKS = new Table('webhooks', { order: ['created_at', 'id'], missing: 'No such webhook' });

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

export function toWebhook({ id, url, events, is_active, created_at, modified_at }: WebhookRow) {
  return {
    ...{ id, url, events: JSON.parse(events) as string[], isActive: is_active === 1 },
    ...{ createdAt: toTimestamp(created_at), modifiedAt: toTimestamp(modified_at) },
  };
}
