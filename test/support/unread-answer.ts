/** An answer whose head has arrived, and whose body the server cannot send completely until the test reads it. */

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Identity, Target } from './client.ts';

export interface UnreadAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Reads the whole body. */
  read(): Promise<Buffer>;
  /** Ends the connection. */
  breakOff(): void;
}

/** Sends the request on a connection of its own, and reads only what arrives together with the head. */
export async function askWithoutReading(
  { port, ca }: Target,
  identity: Partial<Identity>,
  path: string,
  headers: Record<string, string> = {},
): Promise<UnreadAnswer> {
  const outgoing = request({ host: 'localhost', port, ca, ...identity, path, headers, agent: false });
  outgoing.end();
  const answered = once(outgoing, 'response');
  // Without this listener, a connection that fails later would end the test.
  outgoing.on('error', () => undefined);
  const [incoming] = (await answered) as [IncomingMessage];
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    read: () => buffer(incoming),
    breakOff() {
      incoming.on('error', () => undefined);
      outgoing.destroy();
    },
  };
}
