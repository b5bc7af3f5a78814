/** A request whose head the server has received and whose body the test sends later. */

import { request } from 'node:https';
import type { Identity, Target } from './client.ts';

export interface OpenRequest {
  /** Sends more of the body. */
  write(part: string | Buffer): void;
  /** Sends the body, or the rest of it, and ends it. */
  end(body: string | Buffer): void;
  /** Closes the connection without waiting for the answer. */
  abandon(): void;
  status: Promise<number>;
  /** The code of the problem; empty if the answer is not a problem. */
  code: Promise<string>;
}

export interface OpenCall {
  method: string;
  path: string;
  /** Headers in addition to `Content-Type: application/json`, which they may replace. */
  headers?: Record<string, string>;
}

/** Resolves when the server has begun to handle the request; it shows this by asking for the body (RFC 9110 10.1.1). */
export function openRequest(
  { port, ca }: Target,
  identity: Identity | null,
  { method, path, headers }: OpenCall,
): Promise<OpenRequest> {
  const sent = { 'Content-Type': 'application/json', Expect: '100-continue', ...headers };
  const outgoing = request({
    host: 'localhost',
    port,
    ca,
    ...identity,
    method,
    path,
    headers: sent,
    agent: false,
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      let text = '';
      incoming.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
      incoming.on('error', reject);
    });
  });
  // A test may use both promises, one of them, or none.
  const status = answer.then((it) => it.status);
  const code = answer.then(({ text }) => (text.startsWith('{') ? String(JSON.parse(text).code ?? '') : ''));
  for (const promise of [status, code]) promise.catch(() => undefined);
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('continue', () =>
      resolve({
        write: (part) => outgoing.write(part),
        end: (body) => outgoing.end(body),
        abandon: () => outgoing.destroy(),
        status,
        code,
      }),
    );
    outgoing.flushHeaders();
  });
}
