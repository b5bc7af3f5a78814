/** A request whose head the server has got and whose body waits for the test. */

import { request } from 'node:https';
import type { Identity, Target } from './client.ts';

export interface OpenRequest {
  /** Sends the body and ends it. */
  end(body: string): void;
  status: Promise<number>;
}

/** Resolves once the server has taken up the request, which it says by asking for the body (RFC 9110 10.1.1). */
export function openRequest(
  { port, ca }: Target,
  identity: Identity,
  { method, path }: { method: string; path: string },
): Promise<OpenRequest> {
  const headers = { 'Content-Type': 'application/json', Expect: '100-continue' };
  const outgoing = request({ host: 'localhost', port, ca, ...identity, method, path, headers });
  const status = new Promise<number>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
  });
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('continue', () => resolve({ end: (body) => outgoing.end(body), status }));
    outgoing.flushHeaders();
  });
}
