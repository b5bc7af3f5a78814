/** A server that behaves towards one node as the contract says, until a test changes its answers. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { sha256Base64, sha256Hex } from '../../src/lib/hash.ts';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';

export interface FakeAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface SeenRequest {
  /** The method, and the path after the node's own. */
  call: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface FakeServer {
  url: string;
  /** The authority's certificate in PEM. */
  ca: string;
  seen: SeenRequest[];
  bundle: Buffer;
  parametersFile: string | null;
  /** Changes the answers; null leaves an answer as it is. */
  intercept: (call: string, answer: FakeAnswer) => FakeAnswer | null;
  close(): Promise<void>;
}

const NODE_ID = '00000000-0000-4000-8000-000000000001';
const NO_WISHES = {
  configurationMode: null,
  configurationModeInterval: null,
  reportCompliance: null,
  certificateRotationInterval: null,
};

export async function startFakeServer(): Promise<FakeServer> {
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await issueServerCertificate(authority, ['localhost'], Date.now());
  const fake = {
    ca: authority.certificate,
    seen: [],
    bundle: Buffer.alloc(0),
    parametersFile: null,
  } as unknown;
  const served = fake as FakeServer;
  served.intercept = () => null;
  const options = { key, cert: certificate, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => void serve(served, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  served.url = `https://localhost:${(server.address() as AddressInfo).port}`;
  served.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return served;
}

async function serve(fake: FakeServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const path = (request.url ?? '').replace('/api/v1/nodes/', '').replace(`${NODE_ID}/`, '');
  const call = `${request.method} ${path}`;
  fake.seen.push({ call, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
  const honest = answerTo(fake, call, request.headers['if-none-match']);
  const { status, headers = {}, body = '' } = fake.intercept(call, honest) ?? honest;
  const bytes = Buffer.from(body as string);
  const length = { 'Content-Length': String(bytes.length) };
  response.writeHead(status, status === 204 || status === 304 ? headers : { ...length, ...headers });
  response.end(bytes);
  if (Number(headers['Content-Length'] ?? bytes.length) > bytes.length) response.socket?.destroySoon();
}

function answerTo(fake: FakeServer, call: string, known: string | undefined): FakeAnswer {
  const { bundle, parametersFile } = fake;
  const checksum = sha256Hex(bundle);
  const etag = `"${checksum}"`;
  const json = (status: number, value: unknown, headers = {}) => ({
    status,
    headers,
    body: JSON.stringify(value),
  });
  const answers: Record<string, FakeAnswer> = {
    'POST register': json(200, { nodeId: NODE_ID }),
    'GET lcm-config': json(200, NO_WISHES),
    'GET configuration/checksum': {
      ...json(200, {
        checksum,
        entryPoint: 'main.dsc.yaml',
        parametersFile,
        configurationName: 'web',
        version: '1.0.0',
      }),
      headers: { ETag: etag },
    },
    'GET configuration/bundle': {
      status: 200,
      headers: { ETag: etag, 'Repr-Digest': `sha-512=:AAAA:, sha-256=:${sha256Base64(bundle)}:` },
      body: bundle,
    },
    'POST reports': json(201, {}),
  };
  if (call === 'GET configuration/checksum' && known === etag)
    return { status: 304, headers: { ETag: etag } };
  return answers[call] ?? { status: 204 };
}
