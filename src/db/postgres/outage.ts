/**
 * What the log says of PostgreSQL: when it goes, every ten seconds how many requests fail meanwhile, and when it is back.
 * Whatever fails because of it is at `debug` (`DatabaseAway`), so that this is seen.
 */

import { SECOND } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Losses } from './connections.ts';

/** Milliseconds between two lines with counts. */
const INTERVAL = 10 * SECOND;

export class Outage {
  private readonly log: Log | null;
  /** When PostgreSQL went and when the last line came, as `performance.now()` counts; null while it is there. */
  private times: { since: number; told: number } | null = null;
  private failedRequests = 0;
  private fromMemory = 0;

  constructor(log: Log | null) {
    this.log = log;
  }

  get isUnderWay(): boolean {
    return this.times !== null;
  }

  begin(error: unknown): void {
    const now = performance.now();
    this.times = { since: now, told: now };
    this.log?.error({ err: error }, 'PostgreSQL cannot be reached; polls are answered from memory for 30 s');
  }

  /** Notes a request that failed. One that does so before anybody knows that PostgreSQL is away counts too. */
  noteFailed(): void {
    this.failedRequests += 1;
  }

  /** Notes that something was answered from memory. */
  noteFromMemory(): void {
    this.fromMemory += 1;
  }

  /** Must be called now and then. */
  tick(): void {
    const now = performance.now();
    if (this.times === null || now < this.times.told + INTERVAL) return;
    this.times.told = now;
    this.log?.warn(this.counts(now - this.times.since), 'PostgreSQL is still away');
  }

  /** Must be called whenever PostgreSQL has answered. @param losses of connections since it was called last */
  noteHere(losses: Losses | null): void {
    if (this.times !== null) {
      this.log?.info(this.counts(performance.now() - this.times.since), 'PostgreSQL answers again');
    } else if (losses !== null) {
      const { connections, fault } = losses;
      const facts = { connections, failedRequests: this.failedRequests, err: fault };
      this.log?.warn(facts, 'connections to PostgreSQL were lost, and what used them has failed');
    }
    this.times = null;
    this.failedRequests = 0;
    this.fromMemory = 0;
  }

  private counts(milliseconds: number): object {
    const { failedRequests, fromMemory } = this;
    return { seconds: Math.round(milliseconds / SECOND), failedRequests, fromMemory };
  }
}
