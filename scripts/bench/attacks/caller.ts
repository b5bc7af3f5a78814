/** An attacker's ordinary requests. The bodies of answers are counted and dropped; only the status is read. */

import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { encodeForm, type Form } from '../../../test/support/client.ts';
import type { Endpoint } from '../messages.ts';
import type { Traffic } from './traffic.ts';

export interface Request {
  method: string;
  path: string;
  /** JSON is encoded, and a form is written as multipart. */
  body?: { json: unknown } | { form: Form } | { bytes: Buffer; type: string };
  /** After this time in milliseconds the client ends the connection, whatever has arrived. */
  leaveAfter?: number;
}

export interface Outcome {
  /** Null if the connection ended without an answer. */
  status: number | null;
  /** The code of a problem. */
  code: string;
  /** The time from the first byte sent to the last byte of the answer. */
  milliseconds: number;
}

export interface CallerOptions {
  headers?: Record<string, string>;
  identity?: { cert: string; key: string };
  /** The address from which the requests come. */
  from?: string;
}

const BOUNDARY = 'hawser-bench-boundary-7d1f';
const LOOKED_AT = 4_096;

export class Caller {
  private readonly endpoint: Endpoint;
  private readonly traffic: Traffic;
  private readonly headers: Record<string, string>;
  private readonly agent: Agent;

  constructor(endpoint: Endpoint, traffic: Traffic, { headers = {}, identity, from }: CallerOptions = {}) {
    this.endpoint = endpoint;
    this.traffic = traffic;
    this.headers = headers;
    const address = from === undefined ? {} : { localAddress: from };
    this.agent = new Agent({ keepAlive: true, ca: endpoint.ca, ...identity, ...address });
  }

  /** Never throws: an attacker accepts every answer and counts it. */
  ask({ method, path, body, leaveAfter }: Request): Promise<Outcome> {
    const { bytes, type } = encode(body);
    const headers = {
      ...this.headers,
      ...(type && { 'Content-Type': type, 'Content-Length': bytes.length }),
    };
    const start = performance.now();
    const to = { host: '127.0.0.1', servername: 'localhost', port: this.endpoint.port, agent: this.agent };
    return new Promise((resolve) => {
      const end = (status: number | null, code = '') => {
        clearTimeout(timer);
        resolve({ status, code, milliseconds: performance.now() - start });
        this.traffic.addAnswer(`${status ?? 'none'} ${code}`.trim());
      };
      const outgoing = request({ ...to, method, path, headers: { Host: 'localhost', ...headers } });
      const timer = leaveAfter === undefined ? undefined : setTimeout(() => outgoing.destroy(), leaveAfter);
      outgoing.once('finish', () => this.traffic.addSent(bytes.length));
      outgoing.once(
        'response',
        (incoming) => void this.read(incoming).then((code) => end(incoming.statusCode ?? 0, code)),
      );
      outgoing.once('error', () => end(null));
      outgoing.end(bytes);
    });
  }

  close(): void {
    this.agent.destroy();
  }

  /** @returns the code of a problem, once the whole answer has arrived */
  private read(incoming: IncomingMessage): Promise<string> {
    let text = '';
    incoming.on('data', (chunk: Buffer) => {
      this.traffic.addReceived(chunk.length);
      if (text.length < LOOKED_AT) text += chunk.toString('latin1', 0, LOOKED_AT);
    });
    return new Promise((resolve) => {
      const isProblem = /problem\+json/.test(incoming.headers['content-type'] ?? '');
      incoming.once('close', () => resolve((isProblem && /"code":"(\w+)"/.exec(text)?.[1]) || ''));
    });
  }
}

function encode(body: Request['body']): { bytes: Buffer; type: string | null } {
  if (body === undefined) return { bytes: Buffer.alloc(0), type: null };
  if ('bytes' in body) return body;
  if ('json' in body) return { bytes: Buffer.from(JSON.stringify(body.json)), type: 'application/json' };
  return { bytes: encodeForm(body.form, BOUNDARY), type: `multipart/form-data; boundary=${BOUNDARY}` };
}
