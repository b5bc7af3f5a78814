/** Writes events for others, in the transaction of what they tell of. So an event is there if and only if that happened. */

import type { EventType } from '../domain/event-types.ts';
import { newId } from '../lib/ids.ts';
import type { Db } from './database.ts';
import { insertAll } from './rows.ts';

export interface NewEvent {
  type: EventType;
  /** `configurations/<name>`, `composite-configurations/<name>` or `nodes/<id>`. */
  subject: string;
  /** When it happened, in epoch milliseconds. */
  at: number;
  /** What a reader wants to know. It never contains a secret. */
  data: Readonly<Record<string, unknown>>;
}

/** Adds events. They are in the feed once the leader has given them positions (src/events/numbering.ts). */
export async function emit(trx: Db, events: readonly NewEvent[]): Promise<void> {
  await insertAll(
    trx,
    'events',
    events.map(({ type, subject, at: time, data }) => {
      return { id: newId(), type, subject, time, data: JSON.stringify(data) };
    }),
  );
}
