/**
 * How much of the server nodes may hold at once: calls of all nodes and of each, and connections of each. A fleet that
 * comes all at a time is told to come again, and so is one node that has too many open. A call is open from when its body
 * is there until its answer is on its way.
 */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HawserError } from '../lib/errors.ts';
import { Tally } from '../lib/tally.ts';
import { endAfterAnswer, isProxied } from './connections.ts';

/** All nodes together may have so many open calls. */
const CALLS = 4_000;
/** One node may have so many open calls. An agent has one or two. */
const CALLS_OF_ONE_NODE = 8;
/** One node may have so many connections. An agent has one or two. */
const CONNECTIONS_OF_ONE_NODE = 16;
/** The wait in seconds. It is spread, so that those who were sent away do not come back together. */
const RETRY_AFTER = { least: 5, most: 30 };

export class LoadShedder {
  private readonly limit: number;
  private openCalls = 0;
  private readonly calls = new Tally();
  private readonly connections = new Tally();
  private readonly nodes = new WeakMap<Socket, string>();

  /** @param limit open calls of all nodes together */
  constructor(limit = CALLS) {
    this.limit = limit;
  }

  /** @throws HawserError unavailable `overloaded` where no further call may be open */
  requirePlace(nodeId: string): void {
    if (this.openCalls >= this.limit || this.calls.of(nodeId) >= CALLS_OF_ONE_NODE) throw overloaded();
  }

  /**
   * Counts a call that has its place.
   * @returns ends the call; to be called once
   */
  enter(nodeId: string): () => void {
    this.openCalls += 1;
    this.calls.add(nodeId, 1);
    return () => {
      this.openCalls -= 1;
      this.calls.add(nodeId, -1);
    };
  }

  /**
   * Counts a connection from its first call on, when it is known which node it is of; where a trusted proxy stands
   * between, whose connections carry many nodes, counts a request in progress.
   * @throws HawserError unavailable `overloaded` beyond the limit; the connection then ends with the answer, unless it
   *   is a proxy's
   */
  admitConnection(nodeId: string, response: ServerResponse): void {
    const { socket } = response.req;
    if (this.nodes.get(socket) === nodeId) return;
    const viaProxy = isProxied(socket);
    const holder = viaProxy ? response : socket;
    if (holder.closed) return;
    if (this.connections.of(nodeId) >= CONNECTIONS_OF_ONE_NODE) {
      endAfterAnswer(response);
      throw overloaded('The node has as many connections as it may have; come again');
    }
    this.connections.add(nodeId, 1);
    if (!viaProxy) this.nodes.set(socket, nodeId);
    holder.on('close', () => this.connections.add(nodeId, -1));
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
