/** Row types of events and webhooks. Rules as in schema.ts. */

import type { Generated } from 'kysely';

/** What others are told. A row is written with what it tells of, and gets its position in the feed later. */
export interface EventsTable {
  /** The order in which rows were written. Of several transactions the one with lower numbers may commit later. */
  seq: Generated<number>;
  id: string;
  type: string;
  subject: string;
  time: number;
  /** A JSON object. */
  data: string;
  /** Its place in the feed, counted from 1; null until the leader has given it one. */
  position: Generated<number | null>;
}

export interface WebhooksTable {
  id: string;
  url: string;
  /** A JSON array of globs. */
  events: string;
  /** As it was given: `whsec_` and base64. It leaves the database for the making of signatures alone. */
  secret: string;
  is_active: number;
  created_at: number;
  modified_at: number;
}

/** An event that goes to a webhook, or went there. */
export interface WebhookDeliveriesTable {
  id: string;
  webhook_id: string;
  /** That of the event. */
  position: number;
  /** That of the event. */
  subject: string;
  state: 'Pending' | 'Delivered' | 'Failed';
  /** The attempts that have ended. */
  attempts: Generated<number>;
  /** When the next attempt is due; null for one that waits for an earlier event of its subject, and where it is over. */
  due_at: number | null;
  /** When the time for retries began. */
  created_at: number;
  last_attempt_at: Generated<number | null>;
  /** The status of the last answer; null where there was none. */
  last_status: Generated<number | null>;
  /** A short code, such as `ECONNREFUSED`. */
  last_error: Generated<string | null>;
}

export interface EventTables {
  events: EventsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
}

/**
 * The statements that make the tables, the same on both engines but for the type of texts and of the number of a row.
 * @param text the type of a column of text
 */
export function eventStatements(text: string, numbered: string): readonly string[] {
  return [
    `create table events (
      seq ${numbered},
      id ${text} not null unique,
      type ${text} not null,
      subject ${text} not null,
      time bigint not null,
      data ${text} not null,
      position bigint unique)`,
    'create index events_without_position on events (seq) where position is null',
    `create table webhooks (
      id ${text} primary key,
      url ${text} not null,
      events ${text} not null,
      secret ${text} not null,
      is_active bigint not null,
      created_at bigint not null,
      modified_at bigint not null)`,
    `create table webhook_deliveries (
      id ${text} primary key,
      webhook_id ${text} not null references webhooks (id) on delete cascade,
      position bigint not null references events (position) on delete cascade,
      subject ${text} not null,
      state ${text} not null check (state in ('Pending', 'Delivered', 'Failed')),
      attempts bigint not null default 0,
      due_at bigint,
      created_at bigint not null,
      last_attempt_at bigint,
      last_status bigint,
      last_error ${text},
      unique (webhook_id, position))`,
    'create index webhook_deliveries_by_event on webhook_deliveries (position)',
    // Of each subject one event at most is on its way to a webhook.
    `create unique index webhook_deliveries_first on webhook_deliveries (webhook_id, subject)
      where due_at is not null`,
    'create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where due_at is not null',
    `create index webhook_deliveries_pending on webhook_deliveries (webhook_id, subject, position)
      where state = 'Pending'`,
    'create index webhook_deliveries_by_state on webhook_deliveries (webhook_id, state, position)',
  ];
}
