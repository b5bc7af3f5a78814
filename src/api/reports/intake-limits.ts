/**
 * Limits on how many reports, and how many bytes of them, the server takes from one node. They are checked before a report's
 * body is read. Each server keeps its own counts in memory: a restart forgets them, and a node can send as much again to each
 * of several servers.
 */

import { HOUR, MINUTE, SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';

/** Milliseconds between two reports of a node. An agent sends one or two in each cycle of a minute or more. */
const INTERVAL = SECOND / 2;
/** How many reports a node may send at once. */
const BURST = 120;

/** Bytes of the reports that are taken from a node within an hour. */
export const MAX_BYTES_PER_HOUR = 64 * 1024 * 1024;

function tooMany(message: string, wait: number): HawserError {
  return new HawserError('rate_limited', 'rate_limited', message, { retryAfter: Math.ceil(wait / SECOND) });
}

/** A state for each node that has sent reports. Once a minute, states that do not matter are removed. */
class NodeStates<T> extends Map<string, T> {
  private nextSweep = 0;

  sweep(now: number, isOver: (state: T) => boolean): void {
    // A sweep that lies further ahead was set before the clock was set back.
    if (now < this.nextSweep && this.nextSweep <= now + MINUTE) return;
    this.nextSweep = now + MINUTE;
    for (const [nodeId, state] of this) if (isOver(state)) this.delete(nodeId);
  }
}

/**
 * Takes BURST reports of a node at once, then one each INTERVAL. This is the generic cell rate algorithm: all it keeps
 * of a node is the time at which its bucket is full again. One that is further ahead than any bucket can be was kept
 * before the clock was set back, and does not count.
 */
export class FloodGuard {
  private readonly nodes = new NodeStates<number>();

  /** @throws HawserError rate_limited with the seconds after which the next report is taken */
  admit(nodeId: string, now: number): void {
    const isFilling = (fullAt: number) => fullAt > now && fullAt <= now + BURST * INTERVAL;
    this.nodes.sweep(now, (fullAt) => !isFilling(fullAt));
    const known = this.nodes.get(nodeId) ?? 0;
    const fullAt = (isFilling(known) ? known : now) + INTERVAL;
    const excess = fullAt - now - BURST * INTERVAL;
    if (excess > 0) throw tooMany('Too many reports; wait a little', excess);
    this.nodes.set(nodeId, fullAt);
  }
}

/** The bytes that came within one minute. */
interface Minute {
  bytes: number;
  /** Epoch milliseconds from which they no longer count: an hour after the end of the minute. */
  until: number;
}

/**
 * Takes MAX_BYTES_PER_HOUR of each node. It keeps at most 61 minutes of a node, the oldest first. Minutes that have not
 * come yet were kept before the clock was set back, and do not count.
 */
export class VolumeGuard {
  private readonly nodes = new NodeStates<Minute[]>();

  /** @throws HawserError rate_limited with the seconds until there is room for a report of so many bytes */
  admit(nodeId: string, bytes: number, now: number): void {
    this.nodes.sweep(now, (minutes) => !minutes.some((minute) => counts(minute, now)));
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
    throw tooMany('Too many bytes of reports within an hour', until - now);
  }

  /**
   * Counts a report.
   * @returns a function to call if the report is not taken after all
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
    return (this.nodes.get(nodeId) ?? []).filter((minute) => counts(minute, now));
  }
}

function counts({ until }: Minute, now: number): boolean {
  return until > now && until <= now + MINUTE + HOUR;
}
