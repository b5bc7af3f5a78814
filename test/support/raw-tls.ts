/** Sends bytes over TLS exactly as a test writes them, for requests that no HTTP client would send. */

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Target } from './client.ts';

/**
 * Sends all of it and returns what arrives until the server closes the connection. The last request must ask for the
 * close.
 */
export function exchange({ port, ca }: Target, ...bytes: (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  for (const piece of bytes) socket.write(piece);
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

/** The status codes of the answers in the received text. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

/** Opens a connection to which a test can write step by step. */
export async function openSocket({ port, ca }: Target): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  return socket;
}
