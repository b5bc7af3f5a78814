/** How many connections one node holds, so that it cannot take those of the others. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Tally } from '../lib/tally.ts';
import { isProxied } from './connections.ts';
import { overloaded } from './node-calls.ts';

/** An agent has one or two. */
const OF_ONE_NODE = 16;

interface NodeRequest {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Counted from the first call on: only then is it known which node a connection is of. */
export class NodeConnections {
  private readonly byNode = new Tally();
  private readonly nodes = new WeakMap<Socket, string>();

  /**
   * Counts a connection, or a request in progress where a trusted proxy stands between, whose connections carry many
   * nodes.
   * @throws HawserError unavailable `overloaded` beyond the limit; the connection then ends with the answer, unless it
   *   is a proxy's
   */
  admit(nodeId: string, { request, response }: NodeRequest): void {
    const { socket } = request;
    if (this.nodes.get(socket) === nodeId) return;
    const viaProxy = isProxied(socket);
    const holder = viaProxy ? response : socket;
    if (holder.closed) return;
    if (this.byNode.of(nodeId) >= OF_ONE_NODE) {
      if (!viaProxy) response.shouldKeepAlive = false;
      throw overloaded('The node has as many connections as it may have; come again');
    }
    this.byNode.add(nodeId, 1);
    if (!viaProxy) this.nodes.set(socket, nodeId);
    holder.once('close', () => this.byNode.add(nodeId, -1));
  }
}
