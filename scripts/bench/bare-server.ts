/**
 * The yardstick, a process of its own: a `node:https` handler that knows its answer beforehand. What Hawser
 * costs beyond this is what Hawser itself costs. TLS settings and timeouts are those of src/http/listener.ts,
 * written out again because sharing the listener would hide what the listener costs.
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

function start({ cert, key }: BareSetup): void {
  const server = createServer({ ...SETTINGS, cert, key }, (_request, response) => {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body ?? undefined);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

process.once('message', (setup: BareSetup) => {
  start(setup);
  process.on('message', (next: CannedAnswer) => {
    answer = next;
    process.send?.('ready');
  });
});
process.once('disconnect', () => process.exit(0));
