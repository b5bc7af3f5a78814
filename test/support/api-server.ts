/** A server over TLS that answers as a test says, for clients of the API. */

import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';

export interface ApiRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface ApiReply {
  status?: number;
  headers?: Record<string, string>;
  /** What is neither text nor bytes is sent as JSON. */
  body?: unknown;
}

export interface ApiServer {
  url: string;
  /** PEM of its authority and of its own certificate. */
  ca: string;
  certificate: string;
  seen: ApiRequest[];
  close(): Promise<void>;
}

/** @param withAuthority whether it presents its authority too */
export async function startApiServer(
  answer: (request: ApiRequest) => ApiReply,
  withAuthority = false,
): Promise<ApiServer> {
  const ca = await createAuthority(Date.now());
  const { certificate, key } = await issueServerCertificate(ca, ['localhost'], Date.now());
  const seen: ApiRequest[] = [];
  const cert = withAuthority ? `${certificate}\n${ca.certificate}` : certificate;
  const server = createServer({ cert, key }, async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body: await text(incoming) };
    seen.push(request);
    const { status = 200, headers: more = {}, body } = answer(request);
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    outgoing.writeHead(status, { 'Content-Type': type, ...more });
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined;
    outgoing.end(isRaw ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    ...{ ca: ca.certificate, certificate, seen },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
