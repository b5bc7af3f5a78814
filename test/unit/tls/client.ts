import { once } from 'node:events';
import type { Socket } from 'node:net';

/** One connection of a client, with what it received so far. */
export interface Client<T extends Socket = Socket> {
  socket: T;
  received: () => string;
  closed: Promise<unknown>;
}

/** @param ready the event after which the socket can be written to */
export async function clientOn<T extends Socket>(
  socket: T,
  ready: 'connect' | 'secureConnect',
): Promise<Client<T>> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  // Not `once`: that rejects when an error comes first.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, ready);
  return { socket, received: () => text, closed };
}
