/**
 * Stops a node that floods the server with reports, before their bodies are read. Kept in memory: a restart, or a
 * second server, forgives a flood no more than one burst.
 */

import { MINUTE, SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';

/** An agent sends a report or two each cycle, of a minute at the least. */
const INTERVAL = SECOND / 2;
const BURST = 120;

/** Reports of each node: BURST at once, then one each INTERVAL. */
export class FloodGuard {
  /** When the node's bucket is full again: the generic cell rate algorithm, one number for each node. */
  private readonly fullAt = new Map<string, number>();
  private nextSweep = 0;

  /** @throws HawserError rate_limited with the seconds after which the next one is taken */
  admit(nodeId: string, now: number): void {
    this.sweep(now);
    const fullAt = Math.max(this.fullAt.get(nodeId) ?? 0, now) + INTERVAL;
    const excess = fullAt - now - BURST * INTERVAL;
    if (excess > 0) {
      const retryAfter = Math.ceil(excess / SECOND);
      throw new HawserError('rate_limited', 'rate_limited', 'Too many reports; wait a little', {
        retryAfter,
      });
    }
    this.fullAt.set(nodeId, fullAt);
  }

  /** A full bucket is as good as none. */
  private sweep(now: number): void {
    if (now < this.nextSweep) return;
    this.nextSweep = now + MINUTE;
    for (const [nodeId, fullAt] of this.fullAt) if (fullAt <= now) this.fullAt.delete(nodeId);
  }
}
