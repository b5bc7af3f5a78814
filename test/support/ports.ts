/** Ports for servers that are started more than once. */

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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
