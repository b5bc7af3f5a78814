/**
 * Notes in passing, such as when a token was last used: nobody is kept waiting or out because the database cannot be
 * written at the moment. What could not be noted stays in memory and goes with the next note that can.
 */

import type { Kysely } from 'kysely';
import { translateDatabaseError } from '../db/errors.ts';
import type { Database } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { HawserError } from '../lib/errors.ts';

type Note = (db: Kysely<Schema>) => Promise<unknown>;

export class LateNotes {
  private readonly db: Kysely<Schema>;
  /** By what they are about: of a token or session the last one is enough. */
  private readonly waiting = new Map<string, Note>();

  constructor({ writeNow }: Pick<Database, 'writeNow'>) {
    this.db = writeNow;
  }

  /**
   * @param note may be carried out later than others about the same
   * @returns whether it was taken at once
   */
  async take(about: string, note: Note): Promise<boolean> {
    this.waiting.delete(about);
    if (!(await this.isTaken(note))) {
      this.waiting.set(about, note);
      return false;
    }
    if (this.waiting.size > 0) void this.catchUp();
    return true;
  }

  /** Takes what waits, in the background; what cannot be taken goes on waiting. */
  private async catchUp(): Promise<void> {
    for (const [about, note] of this.waiting) {
      this.waiting.delete(about);
      if (await this.isTaken(note).catch(() => false)) continue;
      if (!this.waiting.has(about)) this.waiting.set(about, note);
      return;
    }
  }

  private async isTaken(note: Note): Promise<boolean> {
    try {
      await note(this.db);
      return true;
    } catch (error) {
      if (translateDatabaseError(error) instanceof HawserError) return false;
      throw error;
    }
  }
}
