/** Ports for servers that are started more than once. */

import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The system takes the ports of outgoing connections from above these, so that none of them takes a port whose server is
 * down for a while.
 */
const FIRST = 12_000;
const COUNT = 20_000;
const TRIES = 100;

/** A port that is free now, and that only a server takes which asks for it by its number. */
export async function steadyPort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

/** Listens in place of a server that is down, until a client has tried to connect, which is refused. */
export async function untilKnocked(port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, '127.0.0.1');
  await once(server, 'connection');
  server.close();
  await once(server, 'close');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
