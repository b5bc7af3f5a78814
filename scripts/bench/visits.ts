/**
 * Lets every node of a fleet poll once: over connections of their own, or through a proxy that keeps a few
 * connections.
 */

import { X509Certificate } from 'node:crypto';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { openConnection } from './connections.ts';
import { type ConnectingNode, NEWEST_VERSION } from './fleet.ts';
import type { Endpoint } from './messages.ts';
import { requestText } from './probe.ts';
import { readBody } from './wire.ts';

/** The address of the proxy. The nodes use another address, so that the server trusts only the proxy. */
export const PROXY_ADDRESS = '127.0.0.2';
const LANES = 16;

/**
 * Each node connects, polls and disconnects.
 * @throws Error if an answer is wrong
 */
export function visitAlone(endpoint: Endpoint, nodes: readonly ConnectingNode[]): Promise<void> {
  const { port, ca } = endpoint;
  return inLanes(nodes, async (waiting) => {
    for (const node of waiting) {
      const { cert, key } = node.identity;
      const socket = await openConnection(port, createSecureContext({ ca, cert, key }));
      await poll(socket, node, {});
      await end(socket);
    }
  });
}

/**
 * The proxy vouches for the nodes' certificates (RFC 9440).
 * @throws Error if an answer is wrong
 */
export function visitByProxy({ port, ca }: Endpoint, nodes: readonly ConnectingNode[]): Promise<void> {
  return inLanes(nodes, async (waiting) => {
    const socket = await openConnection(port, createSecureContext({ ca }), PROXY_ADDRESS);
    for (const node of waiting) {
      const certificate = new X509Certificate(node.identity.cert).raw.toString('base64');
      await poll(socket, node, { 'Client-Cert': `:${certificate}:` });
    }
    await end(socket);
  });
}

async function inLanes(
  nodes: readonly ConnectingNode[],
  work: (waiting: Iterable<ConnectingNode>) => Promise<void>,
): Promise<void> {
  const waiting = nodes.values();
  await Promise.all(Array.from({ length: LANES }, () => work(waiting)));
}

async function poll(socket: TLSSocket, node: ConnectingNode, headers: Record<string, string>): Promise<void> {
  const asked = requestText(`/api/v1/nodes/${node.nodeId}/configuration/checksum`, headers);
  const body = (await answerTo(socket, asked)).toString('utf8');
  const { configurationName, version } = JSON.parse(body);
  if (configurationName !== node.configurationName || version !== NEWEST_VERSION)
    throw new Error(`wrong answer to a poll:\n${body}`);
}

function answerTo(socket: TLSSocket, asked: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const done = () =>
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      try {
        const body = readBody(read);
        if (body === null) return;
        done();
        resolve(body);
      } catch (error) {
        reject(error);
      }
    });
    socket.write(asked);
  });
}

async function end(socket: TLSSocket): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.end();
  await closed;
}
