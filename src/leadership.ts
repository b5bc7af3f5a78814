/**
 * Of all processes that use a database, one leads: it does what nobody asks for. It leads as long as it holds a lock, and
 * the others try to get that lock. On SQLite the one process that may lead gets it at once.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LEADER } from './domain/lock-names.ts';
import { SECOND } from './lib/clock.ts';
import type { Locks } from './lib/locks.ts';
import type { Log } from './lib/log.ts';

/** Milliseconds between two attempts to get the lead. */
const PAUSE = 1 * SECOND;

/** What the leader does. */
export interface Lead {
  /** Begins nothing more, and waits for what is under way. */
  close(): Promise<void>;
}

export interface LeadershipOptions {
  locks: Locks;
  log: Log;
  /** Begins what the leader does. */
  lead(): Lead;
}

export class Leadership {
  private readonly options: LeadershipOptions;
  private readonly closing = new AbortController();
  private readonly isOver: Promise<void>;

  constructor(options: LeadershipOptions) {
    this.options = options;
    this.isOver = this.run();
  }

  /** Gives the lead back once what is under way has ended. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.isOver;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await this.tryToLead();
      await sleep(PAUSE, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves once this process does not lead, or no longer. */
  private async tryToLead(): Promise<void> {
    const { locks, log, lead } = this.options;
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.closing.signal]);
    const release = await locks.acquireIfFree(LEADER, () => ended.abort());
    if (release === null) return;
    log.debug('this process leads');
    const led = lead();
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (ended.signal.aborted)
      log.warn('this process leads no longer: the connection that held the lead is lost');
    await led.close();
    release();
  }
}
