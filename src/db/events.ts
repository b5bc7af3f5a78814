/** Writes events for others, in the transaction of what they tell of. So an event is there if and only if that happened. */

import type { EventType } from '../domain/event-types.ts';
import { newId } from '../lib/ids.ts';
import type { Db } from './database.ts';

export interface NewEvent {
  type: EventType;
  /** `configurations/<name>`, `composite-configurations/<name>` or `nodes/<id>`. */
  subject: string;
  /** When it happened, in epoch milliseconds. */
  at: number;
  /** What a reader wants to know. It never contains a secret. */
  data: Readonly<Record<string, unknown>>;
}

/** Adds an event. It is in the feed once the leader has given it a position (src/events/numbering.ts). */
export async function emit(trx: Db, { type, subject, at: time, data }: NewEvent): Promise<void> {
  const row = { id: newId(), type, subject, time, data: JSON.stringify(data) };
  await trx.insertInto('events').values(row).execute();
}
