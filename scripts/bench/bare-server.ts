/**
 * The server that Hawser is compared with, in a separate process: a `node:https` handler that knows its answer
 * beforehand. The difference is what Hawser itself costs. TLS settings and timeouts are those of
 * src/http/listener.ts. They are written again here, because sharing the listener would hide what the listener costs.
 */

import { constants } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { BareSetup, CannedAnswer } from './messages.ts';

const SETTINGS = {
  keepAliveTimeout: 125_000,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  handshakeTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  requestCert: true,
  rejectUnauthorized: false,
  requireHostHeader: false,
} as const;

let answer: CannedAnswer = { status: 500, headers: {}, body: null };

/** @returns the port */
function listen({ cert, key }: BareSetup): Promise<number> {
  const server = createServer({ ...SETTINGS, cert, key }, (_request, response) => {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body ?? undefined);
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
}

process.once('message', async (setup: BareSetup) => {
  process.on('message', (next: CannedAnswer) => {
    answer = next;
    process.send?.('ready');
  });
  process.send?.(await listen(setup));
});
process.once('disconnect', () => process.exit(0));
