/**
 * The server that Hawser is compared with, in a separate process: a `node:https` handler that knows its answer
 * beforehand. The difference is what Hawser itself costs. TLS settings and timeouts are those of
 * src/http/listener.ts. They are written again here, because sharing the listener would hide what the listener costs.
 */

import cluster from 'node:cluster';
import { constants } from 'node:crypto';
import { once } from 'node:events';
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

/**
 * Starts several processes behind one port, like Hawser's workers, and sends each the setup of this one.
 * @returns the port
 */
async function fork(setup: BareSetup): Promise<number> {
  // Bodies are bytes, which the default serialization does not support.
  cluster.setupPrimary({ serialization: 'advanced' });
  const workers = Array.from({ length: setup.workers }, () => cluster.fork());
  // A message that is sent to a worker before it listens for messages is lost.
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const tell = async (message: BareSetup | CannedAnswer) => {
    const replies = workers.map((worker) => once(worker, 'message'));
    for (const worker of workers) worker.send(message);
    return (await Promise.all(replies)).map(([reply]) => reply);
  };
  const [port] = await tell({ ...setup, workers: 1 });
  process.on('message', (next: CannedAnswer) => void tell(next).then(() => process.send?.('ready')));
  return port;
}

async function answerAlone(setup: BareSetup): Promise<number> {
  process.on('message', (next: CannedAnswer) => {
    answer = next;
    process.send?.('ready');
  });
  return listen(setup);
}

process.once('message', async (setup: BareSetup) => {
  process.send?.(await (setup.workers === 1 ? answerAlone(setup) : fork(setup)));
});
if (cluster.isWorker) process.send?.('up');
process.once('disconnect', () => process.exit(0));
