/** `/api/v1/webhooks`: whom the server calls with events, and what became of each call. */

import type { Database } from '../../db/database.ts';
import { type DeliveryRow, listDeliveries, WEBHOOKS, type WebhookRow } from '../../db/webhooks.ts';
import { createWebhook, deleteWebhook, redeliverOne, updateWebhook } from '../../deeds/change-webhook.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../shared/routes.ts';
import { Delivery, DeliveryFilter, NewWebhook, Webhook, WebhookChange } from './schemas.ts';

const PATH = '/api/v1/webhooks';

export function webhookRoutes(database: Database): Route[] {
  const webhooks = permitted(database, ['Webhooks'], 'webhooks.manage');
  const answer = { description: 'The webhook, without its secret', schema: Webhook };
  return [
    webhooks.create(PATH, {
      ...operation('createWebhook', 'Have events sent to an address'),
      description:
        'Each event is sent as a POST of a CloudEvents envelope, signed by the scheme of Standard Webhooks. An address that ' +
        'is not public is refused when an event is sent, unless `HAWSER_WEBHOOK_ALLOW` has it.',
      body: { kind: 'json', schema: NewWebhook },
      answer,
      problems: ['too_many_webhooks'],
      change: async (trx, { caller, body }) => toWebhook(await createWebhook(trx, caller, body)),
    }),
    webhooks.list(PATH, {
      ...operation('listWebhooks', 'List webhooks, oldest first'),
      answer: { description: 'The webhooks', schema: Webhook },
      rows: ({ query }) => WEBHOOKS.page(database.read, query),
      show: toWebhook,
    }),
    webhooks.get(`${PATH}/{id}`, {
      ...operation('getWebhook', 'Read a webhook'),
      params: idsInPath('id'),
      answer,
      handle: async ({ params }) => toWebhook(await WEBHOOKS.require(database.read, params.id)),
    }),
    webhooks.update(`${PATH}/{id}`, {
      ...operation('updateWebhook', 'Change a webhook'),
      description: 'Events that wait already go to the new address.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: WebhookChange },
      answer,
      change: async (trx, { caller, params, body }) =>
        toWebhook(await updateWebhook(trx, caller, params.id, body)),
    }),
    webhooks.delete(`${PATH}/{id}`, {
      ...operation('deleteWebhook', 'Delete a webhook with its deliveries'),
      params: idsInPath('id'),
      change: (trx, { caller, params }) => deleteWebhook(trx, caller, params.id),
    }),
    ...deliveryRoutes(database, webhooks),
  ];
}

function deliveryRoutes(database: Database, webhooks: ReturnType<typeof permitted>): Route[] {
  return [
    webhooks.list(`${PATH}/{id}/deliveries`, {
      ...operation('listWebhookDeliveries', 'List what was sent to a webhook, and what waits, newest first'),
      params: idsInPath('id'),
      query: DeliveryFilter,
      answer: { description: 'The deliveries of the last 30 days', schema: Delivery },
      rows: ({ params, query }) => listDeliveries(database.read, params.id, query),
      show: toDelivery,
    }),
    webhooks.update(`${PATH}/{id}/deliveries/{deliveryId}/redeliver`, {
      ...operation('redeliverEvent', 'Send an event to a webhook again'),
      description:
        'It is tried at once, and for a day, behind earlier events of its subject that are on their way. `webhook-id` stays the same.',
      method: 'POST',
      params: idsInPath('id', 'deliveryId'),
      answer: { description: 'The delivery, which is Pending now', schema: Delivery },
      change: async (trx, { caller, params }) => toDelivery(await redeliverOne(trx, caller, params)),
    }),
  ];
}

function toWebhook({ id, url, events, is_active, created_at, modified_at }: WebhookRow) {
  return {
    ...{ id, url, events: JSON.parse(events) as string[], isActive: is_active === 1 },
    ...{ createdAt: toTimestamp(created_at), modifiedAt: toTimestamp(modified_at) },
  };
}

function toDelivery(row: DeliveryRow) {
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
