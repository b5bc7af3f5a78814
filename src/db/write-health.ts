/** Knows whether the database can be written, as its last write has shown. */

import type { Kysely, LogEvent } from 'kysely';
import { HawserError } from '../lib/errors.ts';
import { translateDatabaseError } from './errors.ts';
import type { Schema } from './schema.ts';

/** A write that alters nothing. SQLite would write nothing for an update to the same value; this costs caches a check. */
export function raiseGeneration(write: Kysely<Schema>): Promise<unknown> {
  return write
    .updateTable('generation')
    .set((row) => ({ value: row('value', '+', 1) }))
    .execute();
}

/** A statement that ends a write, once it has succeeded. */
const WRITE = /^\s*(?:commit|insert|update|delete)/i;

/** After a failure, one more write finds out whether it lasts. */
export class WriteHealth {
  private fault: string | null = null;

  /**
   * Is told of each statement of the writing handle, once it has run.
   * @param isOpen tells whether a transaction goes on, so that nothing is on the disk yet
   */
  note(event: LogEvent, isOpen: boolean): void {
    if (event.level === 'error') this.noteFailure(event.error);
    else if (!isOpen && WRITE.test(event.query.sql)) this.noteWritten();
  }

  noteWritten(): void {
    this.fault = null;
  }

  noteFailure(error: unknown): void {
    const failure = translateDatabaseError(error);
    if (failure instanceof HawserError) this.fault = failure.code;
  }

  async faultOf(write: Kysely<Schema>): Promise<string | null> {
    if (this.fault === null) return null;
    await raiseGeneration(write).catch(() => undefined);
    return this.fault;
  }
}
