/**
 * How many calls of nodes are carried out at once: a fleet that comes all at a time is told to come again, and so is one
 * node that has too many open. A call is open from when its body is there until its answer is on its way.
 */

import { HawserError } from '../lib/errors.ts';
import { Tally } from '../lib/tally.ts';

/** Open calls of one node. An agent has one or two. */
const OF_ONE_NODE = 8;

/** Seconds; spread, so that those who were sent away do not come back together. */
const RETRY_AFTER = { least: 5, most: 30 };

export class NodeCalls {
  private readonly limit: number;
  private open = 0;
  private readonly byNode = new Tally();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @throws HawserError unavailable `overloaded` where no further call may be open */
  requirePlace(nodeId: string): void {
    if (this.open >= this.limit || this.byNode.of(nodeId) >= OF_ONE_NODE) throw overloaded();
  }

  /**
   * Counts a call that has its place.
   * @returns ends the call; to be called once
   */
  enter(nodeId: string): () => void {
    this.open += 1;
    this.byNode.add(nodeId, 1);
    return () => {
      this.open -= 1;
      this.byNode.add(nodeId, -1);
    };
  }
}

/**
 * Tells a caller to come again, after a time that differs from caller to caller.
 * @param message what there is too much of
 */
export function overloaded(
  message = 'The server has as many calls of nodes as it can carry out; come again',
): HawserError {
  const { least, most } = RETRY_AFTER;
  const retryAfter = least + Math.floor(Math.random() * (most - least + 1));
  return new HawserError('unavailable', 'overloaded', message, { retryAfter });
}
