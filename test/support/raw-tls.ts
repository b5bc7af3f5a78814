/** Bytes over TLS as a test writes them, for what no HTTP client would send. */

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Target } from './client.ts';

/** Sends all of it and returns what comes back until the server closes; the last request must ask for that. */
export function exchange({ port, ca }: Target, ...bytes: (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  for (const piece of bytes) socket.write(piece);
  return new Promise((resolve) => socket.once('close', () => resolve(received)));
}

/** The status codes of the answers in what was received. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

/** A connection to write to by and by. */
export async function openSocket({ port, ca }: Target): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  return socket;
}
