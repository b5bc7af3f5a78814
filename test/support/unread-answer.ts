/** An answer whose head has come, and whose body stays on its way until the test reads it. */

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Identity, Target } from './client.ts';

export interface UnreadAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The whole body. */
  read(): Promise<Buffer>;
  /** Ends the connection. */
  breakOff(): void;
}

/** On a connection of its own, of which it takes no more than what comes with the head. */
export async function askWithoutReading(
  { port, ca }: Target,
  identity: Partial<Identity>,
  path: string,
  headers: Record<string, string> = {},
): Promise<UnreadAnswer> {
  const outgoing = request({ host: 'localhost', port, ca, ...identity, path, headers, agent: false });
  outgoing.end();
  const answered = once(outgoing, 'response');
  // Else a connection that breaks off later would end the test.
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
