/**
 * A client that pools connections as .NET's SocketsHttpHandler does, on which the OpenDSC agent stands: it asks for the
 * client certificate when it opens a connection and at no other time, and opens one only while no kept one is free.
 */

import { Agent, type AgentOptions, request } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';
import type { Identity, Target } from './client.ts';

export interface PooledReply {
  status: number;
  /** The `Connection` header of the answer. */
  connection: string | undefined;
  /** The number of the connection that carried the call; the first that was opened is 0. */
  carrier: number;
}

class Pool extends Agent {
  private readonly identity: () => Identity;

  constructor(options: AgentOptions, identity: () => Identity) {
    super(options);
    this.identity = identity;
  }

  override createConnection(options: ConnectionOptions): Duplex {
    return connect({ ...options, ...this.identity() });
  }
}

export class PooledClient {
  /** The certificate for connections that are opened from now on. */
  identity: Identity;
  private readonly pool: Pool;
  private readonly port: number;
  private readonly carriers: unknown[] = [];

  constructor({ port, ca }: Target, identity: Identity) {
    this.identity = identity;
    this.port = port;
    this.pool = new Pool({ keepAlive: true, ca }, () => this.identity);
  }

  call(method: string, path: string, json?: unknown): Promise<PooledReply> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.pool,
        host: 'localhost',
        port: this.port,
        method,
        path,
        headers,
      });
      outgoing.once('error', reject);
      outgoing.once('response', (incoming) => {
        const { statusCode: status = 0, headers: received, socket } = incoming;
        const reply = { status, connection: received.connection, carrier: this.numberOf(socket) };
        incoming.resume().once('end', () => resolve(reply));
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.pool.destroy();
  }

  private numberOf(socket: unknown): number {
    if (!this.carriers.includes(socket)) this.carriers.push(socket);
    return this.carriers.indexOf(socket);
  }
}
