/**
 * One node's connection. It sends HTTP requests one after the other over TLS, with the node's certificate, and
 * measures each of them.
 */

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Identity, Target } from '../../test/support/client.ts';
import type { Measurements } from './measurements.ts';

const TIMEOUT_MS = 30_000;
const SHOWN_BODY = 400;

export interface Question {
  /** The name under which the answer is counted, together with its status. */
  kind: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  json?: unknown;
  expected: readonly number[];
}

export interface Answer {
  question: Question;
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An answer that the server must not give, shown with its head and the beginning of its body. */
export class WrongAnswer extends Error {
  constructor({ question, status, headers, body }: Answer, fault: string) {
    const sent = Object.entries(question.headers ?? {}).map(([name, value]) => `\n    > ${name}: ${value}`);
    const came = Object.entries(headers).map(([name, value]) => `\n    < ${name}: ${value}`);
    const isText = /json|text/.test(headers['content-type'] ?? '');
    const shown = isText ? body.toString('utf8', 0, SHOWN_BODY) : `(${body.length} bytes)`;
    super(
      `${fault}\n    > ${question.method} ${question.path}${sent.join('')}\n    < ${status}${came.join('')}\n    ${shown}`,
    );
    this.name = 'WrongAnswer';
  }
}

export class NodeConnection {
  private readonly agent: Agent;
  private readonly measurements: Measurements;

  constructor({ port, ca }: Target, { cert, key }: Identity, measurements: Measurements) {
    this.measurements = measurements;
    this.agent = new Agent({
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      // The context is made once, and not for every connection.
      secureContext: createSecureContext({ ca, cert, key }),
      keepAlive: true,
      maxSockets: 1,
      // Without cached sessions every connection makes a full handshake with the certificate, which is what we
      // measure.
      maxCachedSessions: 0,
    });
  }

  /** @throws WrongAnswer if the status is unexpected; Error if the connection fails */
  async ask(question: Question): Promise<Answer> {
    const { answer, milliseconds } = await this.send(question);
    this.measurements.requests += 1;
    this.measurements.took(`${question.kind} ${answer.status}`, milliseconds);
    if (question.expected.includes(answer.status)) return answer;
    throw new WrongAnswer(answer, `expected ${question.expected.join(' or ')}, not ${answer.status}`);
  }

  close(): void {
    this.agent.destroy();
  }

  private send(question: Question): Promise<{ answer: Answer; milliseconds: number }> {
    const { method, path, json, kind } = question;
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
    const headers = { ...question.headers, ...(body && describe(body)) };
    return new Promise((resolve, reject) => {
      let start = performance.now();
      const failed = (error: Error) => {
        reject(new Error(`${kind}: ${error.message}\n    > ${method} ${path}`));
      };
      const outgoing = request({ agent: this.agent, method, path, headers, timeout: TIMEOUT_MS });
      this.onHandshake(outgoing, start, (at) => {
        start = at;
      });
      outgoing.on('error', failed);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${TIMEOUT_MS / 1_000} s`)));
      outgoing.on('response', (incoming) => {
        readAll(incoming).then((bytes) => {
          const milliseconds = performance.now() - start;
          const answer = {
            question,
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: bytes,
          };
          resolve({ answer, milliseconds });
        }, failed);
      });
      outgoing.end(body);
    });
  }

  /** Measures the handshake, if there is one, and reports when the request itself began. */
  private onHandshake(outgoing: ClientRequest, start: number, begun: (at: number) => void): void {
    outgoing.once('socket', (socket) => {
      if (!socket.connecting) return;
      socket.once('secureConnect', () => {
        const now = performance.now();
        this.measurements.took('handshake', now - start);
        begun(now);
      });
    });
  }
}

function describe(body: Buffer): Record<string, string> {
  return { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}
