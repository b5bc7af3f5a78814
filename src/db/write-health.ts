/** Whether the database can be written, as its last write has shown; where that failed, one more finds out. */

import type { Kysely, LogEvent } from 'kysely';
import { HawserError } from '../lib/errors.ts';
import { translateDatabaseError } from './errors.ts';
import type { Schema } from './schema.ts';

const WRITE = /^\s*(?:commit|insert|update|delete)/i;

export class WriteHealth {
  private fault: string | null = null;

  /**
   * Told of each statement of the handle that writes, once it has run.
   * @param isOpen whether a transaction goes on, so that nothing is written yet
   */
  note(event: LogEvent, isOpen: boolean): void {
    if (event.level === 'error') this.noteFailure(event.error);
    else if (!isOpen && WRITE.test(event.query.sql)) this.fault = null;
  }

  noteFailure(error: unknown): void {
    const failure = translateDatabaseError(error);
    if (failure instanceof HawserError) this.fault = failure.code;
  }

  /** The code of what writes fail with, such as `insufficient_storage`; null while they succeed. */
  async faultOf(write: Kysely<Schema>): Promise<string | null> {
    if (this.fault === null) return null;
    // What it changes costs each cached answer one look; SQLite writes nothing for a change to the same value.
    const probe = write.updateTable('generation').set((row) => ({ value: row('value', '+', 1) }));
    await probe.execute().catch(() => undefined);
    return this.fault;
  }
}
