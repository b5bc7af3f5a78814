/**
 * The load generator, in a separate process. Its nodes poll in a closed loop: each sends its next request when the
 * last one is answered.
 */

import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { openConnection, percentile, stayAwake } from './connections.ts';
import type { Endpoint, LoadClient, LoadOrder, LoadResult } from './messages.ts';
import { AnswerReader } from './wire.ts';

/** A round that takes longer has failed. */
const ROUND_LIMIT_MS = 60_000;

/** Connections that stay open over all rounds, because keep-alive rounds do not measure the time to connect. */
const kept = new Map<string, TLSSocket>();
const contexts = new Map<string, SecureContext>();

/** The requests of one round: how many are left to send, and how long each took. */
class Round {
  private readonly requests: number;
  private begun = 0;
  private readonly times: number[] = [];

  constructor(requests: number) {
    this.requests = requests;
  }

  /** Takes one of the requests that are left; returns false if there is none. */
  begin(): boolean {
    this.begun += 1;
    return this.begun <= this.requests;
  }

  took(milliseconds: number): void {
    this.times.push(milliseconds);
  }

  percentile(share: number): number {
    return percentile(this.times, share);
  }
}

async function run({ endpoint, clients, newConnections, requests }: LoadOrder): Promise<LoadResult> {
  const round = new Round(requests);
  const sockets = newConnections
    ? []
    : await Promise.all(clients.map((client) => keptConnection(endpoint, client)));
  const rest = stayAwake();
  const start = performance.now();
  await Promise.all(
    clients.map((client, at) => {
      const socket = sockets[at];
      return socket ? pollOver(socket, client, round) : connectAndPoll(endpoint, client, round);
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  rest();
  return { kind: 'done', seconds, p50: round.percentile(0.5), p99: round.percentile(0.99) };
}

/** Sends one request after the other over one connection until the round has no more. */
function pollOver(socket: TLSSocket, client: LoadClient, round: Round): Promise<void> {
  const request = Buffer.from(client.request);
  const reader = new AnswerReader(client);
  let sent = 0;
  return new Promise((resolve, reject) => {
    const next = (): void => {
      if (!round.begin()) {
        socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
        resolve();
        return;
      }
      sent = performance.now();
      socket.write(request);
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      try {
        if (!reader.read(chunk)) return;
      } catch (error) {
        return reject(error);
      }
      round.took(performance.now() - sent);
      next();
    });
    next();
  });
}

/** Opens a connection for each request: a full handshake with the client's certificate, one poll, and the end. */
async function connectAndPoll(endpoint: Endpoint, client: LoadClient, round: Round): Promise<void> {
  while (round.begin()) {
    const start = performance.now();
    const socket = await openConnection(endpoint.port, contextOf(endpoint, client));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await askOnce(socket, client);
    round.took(performance.now() - start);
    socket.end();
    await closed;
  }
}

function askOnce(socket: TLSSocket, client: LoadClient): Promise<void> {
  const reader = new AnswerReader(client);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      try {
        if (reader.read(chunk)) resolve();
      } catch (error) {
        reject(error);
      }
    });
    socket.write(client.request);
  });
}

async function keptConnection(endpoint: Endpoint, client: LoadClient): Promise<TLSSocket> {
  const key = `${endpoint.port} ${client.identity.thumbprint}`;
  const known = kept.get(key);
  if (known && !known.destroyed) return known;
  const socket = await openConnection(endpoint.port, contextOf(endpoint, client));
  kept.set(key, socket);
  return socket;
}

/** The context is made once per client and server, because reading keys and certificates is not measured. */
function contextOf({ port, ca }: Endpoint, { identity }: LoadClient): SecureContext {
  const key = `${port} ${identity.thumbprint}`;
  const known = contexts.get(key) ?? createSecureContext({ ca, cert: identity.cert, key: identity.key });
  contexts.set(key, known);
  return known;
}

function orTimeout<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the round took more than a minute')), ROUND_LIMIT_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

process.on('message', (order: LoadOrder) => {
  orTimeout(run(order)).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ kind: 'failed', message: error.message } satisfies LoadResult),
  );
});
process.once('disconnect', () => process.exit(0));
