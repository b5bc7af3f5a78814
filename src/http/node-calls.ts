/**
 * How many calls of nodes are carried out at once: a fleet that comes all at a time is told to come again, and so is one
 * node that has too many open. A call is open from when its body is there until its answer is on its way.
 */

import type { ServerResponse } from 'node:http';
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

  /**
   * @returns ends the call; to be called once
   * @throws HawserError unavailable `overloaded` beyond the limits
   */
  enter(nodeId: string): () => void {
    if (this.open >= this.limit || this.byNode.of(nodeId) >= OF_ONE_NODE) throw overloaded();
    this.open += 1;
    this.byNode.add(nodeId, 1);
    return () => {
      this.open -= 1;
      this.byNode.add(nodeId, -1);
    };
  }
}

/**
 * Runs `then` once the answer has been handed to the connection: at once while the connection takes what it is given,
 * else when the client has read enough, or has gone.
 */
export function onceHandedOver(response: ServerResponse, then: () => void): void {
  const isTaken = response.writableEnded && !response.req.socket.writableNeedDrain;
  if (isTaken || response.closed) then();
  else response.once('close', then);
}

/**
 * To come again after a time that differs from caller to caller.
 * @param message what there is too much of
 */
export function overloaded(
  message = 'The server has as many calls of nodes as it can carry out; come again',
): HawserError {
  const { least, most } = RETRY_AFTER;
  const retryAfter = least + Math.floor(Math.random() * (most - least + 1));
  return new HawserError('unavailable', 'overloaded', message, { retryAfter });
}
