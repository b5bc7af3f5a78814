/**
 * Bounds the bytes of the reports that a node hands in (rights.md section 6). Kept in memory by each process for itself,
 * so a restart forgets them, and a node can send as much again to each of several processes.
 */

import { HOUR, MINUTE, SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';

/** Of the reports of a node that were taken within an hour. */
export const MAX_BYTES_PER_HOUR = 64 * 1024 * 1024;

/** What came within one minute. */
interface Minute {
  bytes: number;
  /** Epoch milliseconds from which it no longer counts: an hour after the end of the minute. */
  until: number;
}

export class VolumeGuard {
  /** Oldest first, at most 61 of a node. */
  private readonly nodes = new Map<string, Minute[]>();
  private nextSweep = 0;

  /** @throws HawserError rate_limited when there is no room for a report of so many bytes, with the seconds until then */
  admit(nodeId: string, bytes: number, now: number): void {
    this.sweep(now);
    const minutes = this.current(nodeId, now);
    let excess = minutes.reduce((sum, minute) => sum + minute.bytes, bytes) - MAX_BYTES_PER_HOUR;
    if (excess <= 0) return;
    let until = now + HOUR;
    for (const minute of minutes) {
      excess -= minute.bytes;
      if (excess > 0) continue;
      until = minute.until;
      break;
    }
    throw new HawserError('rate_limited', 'rate_limited', 'Too many bytes of reports within an hour', {
      retryAfter: Math.ceil((until - now) / SECOND),
    });
  }

  /**
   * Counts a report.
   * @returns to be called if it is not taken after all
   * @throws HawserError as `admit`
   */
  take(nodeId: string, bytes: number, now: number): () => void {
    this.admit(nodeId, bytes, now);
    const minutes = this.current(nodeId, now);
    const until = (Math.floor(now / MINUTE) + 1) * MINUTE + HOUR;
    const last = minutes.at(-1);
    const minute = last?.until === until ? last : { bytes: 0, until };
    if (minute !== last) minutes.push(minute);
    minute.bytes += bytes;
    this.nodes.set(nodeId, minutes);
    return () => {
      minute.bytes -= bytes;
    };
  }

  private current(nodeId: string, now: number): Minute[] {
    return (this.nodes.get(nodeId) ?? []).filter(({ until }) => until > now);
  }

  private sweep(now: number): void {
    if (now < this.nextSweep) return;
    this.nextSweep = now + MINUTE;
    for (const [nodeId, minutes] of this.nodes)
      if (minutes.every(({ until }) => until <= now)) this.nodes.delete(nodeId);
  }
}
