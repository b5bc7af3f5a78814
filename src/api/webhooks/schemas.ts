/** Shapes of webhooks and their deliveries. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-webhook.ts';
import { EVENT_TYPES, isEventGlob } from '../../domain/event-types.ts';
import { SECRET_PREFIX } from '../../events/signature.ts';
import { choice, given, Id, Paging, Timestamp } from '../../http/schemas.ts';

/** The bytes of a secret (Standard Webhooks). */
const LEAST_SECRET = 24;
const MOST_SECRET = 64;

const isSecret = (text: string) => {
  const base64 = text.slice(SECRET_PREFIX.length);
  const bytes = Buffer.from(base64, 'base64');
  // Node.js reads what is no base64 too, as far as it can.
  return (
    text.startsWith(SECRET_PREFIX) &&
    bytes.toString('base64') === base64 &&
    bytes.length >= LEAST_SECRET &&
    bytes.length <= MOST_SECRET
  );
};

const isReceiver = (text: string) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocol === 'https:' && `${username}${password}${hash}` === '';
};

const Address = z
  .string()
  .max(2_000)
  .refine(isReceiver, 'Not an https:// address, or one with a user, a password or a fragment')
  .meta({ description: 'An https address without user, password and fragment' });

const Globs = z
  .array(
    z
      .string()
      .refine(
        isEventGlob,
        `Not a type of events, nor a glob with one star that matches some. There are ${EVENT_TYPES.join(', ')}`,
      ),
  )
  .min(1)
  .max(50)
  .meta({ description: 'Types of events. Each may have one star, which stands for any characters' });

const Secret = z
  .string()
  .refine(isSecret, `Not ${SECRET_PREFIX} and base64 of ${LEAST_SECRET} to ${MOST_SECRET} bytes`)
  .meta({ description: '`whsec_` and base64 of 24 to 64 bytes. It is never shown again' });

const isActive = z
  .boolean()
  .nullish()
  .transform((active) => active ?? true);

const EXAMPLE = { url: 'https://ci.example.org/hawser', events: ['rollout.*', 'node.status_changed'] };
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const NewWebhook = z.strictObject({ url: Address, events: Globs, secret: Secret, isActive }).meta({
  id: 'NewWebhook',
  examples: [{ ...EXAMPLE, secret: SECRET }],
}) satisfies z.ZodType<deed.NewWebhook>;

export const WebhookChange = z
  .strictObject({
    ...{ url: Address, events: Globs, isActive },
    secret: Secret.nullish().describe('Absent or null: the secret stays'),
  })
  .meta({
    id: 'WebhookChange',
    examples: [{ ...EXAMPLE, isActive: false }],
  }) satisfies z.ZodType<deed.WebhookChange>;

export const Webhook = z
  .object({
    id: Id,
    url: z.string(),
    events: z.array(z.string()),
    isActive: z.boolean().describe('Whether events are sent. One that is not active gets no new ones'),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({
    id: 'Webhook',
    examples: [
      {
        ...{ id: 'f2b0a1de-3d44-4c56-9b63-0a3f0a2d8c55', ...EXAMPLE, isActive: true },
        ...{ createdAt: '2026-11-20T09:08:00.000Z', modifiedAt: '2026-11-20T09:08:00.000Z' },
      },
    ],
  });

const STATES = ['Pending', 'Delivered', 'Failed'] as const;

export const DeliveryFilter = Paging.extend({ state: given(choice(...STATES)) });

export const Delivery = z
  .object({
    id: Id,
    eventId: Id,
    type: z.string(),
    subject: z.string(),
    state: z.enum(STATES),
    attempts: z.int(),
    createdAt: Timestamp,
    lastAttemptAt: Timestamp.nullable(),
    nextAttemptAt: Timestamp.nullable().describe('Null while an earlier event of the subject is on its way'),
    lastStatus: z.int().nullable().describe('The status of the last answer; null where there was none'),
    lastError: z.string().nullable().describe('A short code, such as `ECONNREFUSED` or `address_refused`'),
  })
  .meta({
    id: 'WebhookDelivery',
    examples: [
      {
        ...{ id: '01932f6c-1d7a-7d3c-8b1f-6a1de2c55f2b', eventId: '0b6f0c3e-7a52-4f0e-9d0e-5b2c8f1f6a11' },
        ...{ type: 'rollout.halted', subject: 'configurations/web', state: 'Pending', attempts: 1 },
        ...{ createdAt: '2026-11-20T09:08:00.000Z', lastAttemptAt: '2026-11-20T09:08:00.000Z' },
        ...{ nextAttemptAt: '2026-11-20T09:08:05.000Z', lastStatus: 503, lastError: 'status_503' },
      },
    ],
  });
