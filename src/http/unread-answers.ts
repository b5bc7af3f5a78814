/** How many large answers a user may have open and not read. Each holds memory, or a file, until it is taken. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { HawserError } from '../lib/errors.ts';
import { Tally } from '../lib/tally.ts';
import type { Answer } from './answer.ts';

/** An answer above so many bytes counts. */
export const LARGE = 1024 * 1024;
const OPEN_OF_ONE_USER = 4;
/** Seconds. A file of the greatest size is taken by then over a good network. */
const RETRY_AFTER = 5;

export class UnreadAnswers {
  private readonly open = new Tally();

  /**
   * Counts an answer until its response is closed, if it is large.
   * @throws HawserError unavailable `overloaded` where the user has as many as may be open
   */
  admit(userId: string, { body }: Answer, response: ServerResponse): void {
    if (!isLarge(body) || response.closed) return;
    if (this.open.of(userId) >= OPEN_OF_ONE_USER) throw tooMany();
    this.open.add(userId, 1);
    response.once('close', () => this.open.add(userId, -1));
  }
}

/** One whose length is not known before it ends may be large. */
function isLarge(body: Answer['body']): boolean {
  if (body === null || body instanceof Readable) return false;
  return body.length === null || body.length > LARGE;
}

function tooMany(): HawserError {
  const message = `You have ${OPEN_OF_ONE_USER} large answers open and not read; read or end one, then come again`;
  return new HawserError('unavailable', 'overloaded', message, { retryAfter: RETRY_AFTER });
}
