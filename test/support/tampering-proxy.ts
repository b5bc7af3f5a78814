/**
 * A proxy between nodes and server that changes answers. To the nodes it looks like the server, because it has the
 * server's key. To the server it looks like each of the nodes, because it makes a certificate for each of them.
 */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { Client, Reply, Target } from './client.ts';
import { makeClientCertificate } from './client-certificates.ts';
import type { Hawser } from './hawser.ts';

type Passed = Pick<Reply, 'status' | 'headers' | 'bytes'>;

/** Returns what to answer instead; null cuts the connection. */
export type Tamper = (path: string, reply: Passed) => Passed | null;

export interface TamperingProxy {
  target: Target;
  close(): Promise<void>;
}

/** Headers of one connection, which must not be passed on to another. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'];

export async function startTamperingProxy(hawser: Hawser, tamper: Tamper): Promise<TamperingProxy> {
  const clients = new Map<string, Promise<Client>>();
  const clientFor = (request: IncomingMessage): Promise<Client> => {
    const thumbprint = (request.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256 ?? '';
    const client = clients.get(thumbprint) ?? makeClient(hawser, thumbprint);
    clients.set(thumbprint, client);
    return client;
  };
  const read = (name: string) => readFileSync(join(hawser.dataDir, 'tls', name));
  const server = createServer(
    { cert: read('server.crt'), key: read('server.key'), requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      clientFor(request)
        .then((client) => pass(client, request))
        .then((reply) => answer(response, tamper(request.url ?? '', reply)))
        .catch(() => response.destroy());
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: { ...hawser.target(), port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function makeClient(hawser: Hawser, thumbprint: string): Promise<Client> {
  if (thumbprint === '') return hawser.client();
  return hawser.client(await makeClientCertificate({ commonName: thumbprint.slice(0, 20) }));
}

async function pass(client: Client, request: IncomingMessage): Promise<Passed> {
  const body = await buffer(request);
  const headers = withoutOwn(request.headers) as Record<string, string>;
  const call = { headers, ...(body.length > 0 && { body }) };
  const {
    status,
    headers: came,
    bytes,
  } = await client.call(request.method ?? 'GET', request.url ?? '/', call);
  return { status, headers: came, bytes };
}

function answer(response: ServerResponse, reply: Passed | null): void {
  if (reply === null) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(withoutOwn(reply.headers))) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.statusCode = reply.status;
  response.end(reply.bytes);
}

function withoutOwn(headers: Passed['headers']): Passed['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
}
