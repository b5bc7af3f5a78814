/**
 * Those who wait for the next event. They hold nothing but their place: one look at the database, twice a second, serves all
 * of a process, whichever process or server has made the event, and without them nobody looks.
 */

import type { Database } from '../db/database.ts';
import { SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import { newestPosition } from './feed.ts';

const INTERVAL = SECOND / 2;
/** Those who may wait at once, in one process. */
const MOST = 200;
const MOST_OF_ONE = 10;

interface Waiting {
  user: string;
  after: number;
  leave(): void;
}

export class EventWaiting {
  private readonly database: Pick<Database, 'read'>;
  private readonly waiting = new Set<Waiting>();
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isClosed = false;

  constructor(database: Pick<Database, 'read'>) {
    this.database = database;
  }

  /**
   * Resolves when there is an event after a position, when the time is over or the signal is aborted, and when the server
   * closes.
   * @param user the id of who waits
   * @throws HawserError rate_limited if too many wait
   */
  async forEvent(
    after: number,
    { user, milliseconds, signal }: { user: string; milliseconds: number; signal: AbortSignal },
  ): Promise<void> {
    if (this.isClosed || signal.aborted) return;
    this.requirePlace(user);
    await new Promise<void>((resolve) => {
      const waiting = { user, after, leave: () => end() };
      const timeout = setTimeout(waiting.leave, milliseconds);
      const end = () => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        this.waiting.delete(waiting);
        if (this.waiting.size === 0) clearInterval(this.timer);
        resolve();
      };
      signal.addEventListener('abort', end);
      if (this.waiting.size === 0) this.timer = setInterval(() => void this.look(), INTERVAL);
      this.waiting.add(waiting);
    });
  }

  /** Sends all of them away, with what there is. */
  close(): void {
    this.isClosed = true;
    for (const { leave } of [...this.waiting]) leave();
  }

  private requirePlace(user: string): void {
    const own = [...this.waiting].filter((waiting) => waiting.user === user).length;
    if (this.waiting.size < MOST && own < MOST_OF_ONE) return;
    const message = own < MOST_OF_ONE ? 'Too many wait for events' : 'You wait for events too often at once';
    throw new HawserError('rate_limited', 'rate_limited', message, { retryAfter: 5 });
  }

  /** While the database is away they wait on. */
  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    const newest = await newestPosition(this.database.read).catch(() => 0);
    this.isLooking = false;
    for (const { after, leave } of [...this.waiting]) if (newest > after) leave();
  }
}
