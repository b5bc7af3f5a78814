/**
 * Of all processes that use a database, one leads: it does what nobody asks for. It leads as long as it has the lease of the
 * lead, and the others try to get it. On SQLite the one process that may lead gets it at once.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './db/database.ts';
import type { Lease } from './db/lease.ts';
import { SECOND } from './lib/clock.ts';
import type { Log } from './lib/log.ts';

/** Milliseconds between two attempts to get the lead. */
const PAUSE = 1 * SECOND;

/** What the leader does. */
export interface Lead {
  /** Begins nothing more, and waits for what is under way. */
  close(): Promise<void>;
}

export interface LeadershipOptions {
  database: Pick<Database, 'claimLead'>;
  /** The id of this server in the list of servers. */
  server: string;
  log: Log;
  /** Begins what the leader does. */
  lead(): Lead;
}

export class Leadership {
  private readonly options: LeadershipOptions;
  private readonly closing = new AbortController();
  private readonly isOver: Promise<void>;
  private isLeading = false;

  constructor(options: LeadershipOptions) {
    this.options = options;
    this.isOver = this.run();
  }

  /** Tells whether this process leads. */
  get leads(): boolean {
    return this.isLeading;
  }

  /** Gives the lead back once what is under way has ended. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.isOver;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    const { database, server, log } = this.options;
    let isFailing = false;
    while (!signal.aborted) {
      const lease = await database.claimLead(server).catch((err: unknown) => {
        log[isFailing ? 'debug' : 'warn']({ err }, 'the lead could not be taken; trying again');
        isFailing = true;
        return null;
      });
      if (lease !== null) {
        isFailing = false;
        await this.leadUnder(lease);
      }
      await sleep(PAUSE, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves once this process leads no longer. */
  private async leadUnder(lease: Lease): Promise<void> {
    const { log, lead } = this.options;
    const { number, lost } = lease;
    const told = number === null ? {} : { lease: number };
    log.info(told, 'this server leads');
    this.isLeading = true;
    const led = lease.run(lead);
    await abortOf(AbortSignal.any([lost, this.closing.signal]));
    this.isLeading = false;
    log.info({ ...told, ...(lost.aborted && { reason: lost.reason }) }, 'this server leads no longer');
    await led.close();
    await lease.giveBack();
  }
}

function abortOf(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
