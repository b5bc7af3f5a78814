/** HTTPS calls to the server with the node's certificate. Nothing is sent before the server has proven its identity. */

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { Interrupted } from '../client/errors.ts';
import { hostOf, portOf } from '../client/network.ts';
import { HOUR, SECOND } from '../lib/clock.ts';
import type { Identity } from './certificates.ts';
import { type Progress, toNoAnswer } from './no-answer.ts';
import { type Destination, tlsFor } from './trust.ts';

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An answer whose body is in a file if the status is 200. */
export interface Downloaded extends Received {
  /** The SHA-256 of the file as base64; null when no file was written. */
  digest: string | null;
}

/** Milliseconds within which a connection must be there, and then the longest silence. */
const SILENCE_LIMIT = 60 * SECOND;
const CALL_LIMIT = 1 * HOUR;
const BODY_LIMIT = 1024 * 1024;

export class Connection {
  private readonly destination: Destination;
  private readonly identity: Identity;
  private readonly stop: AbortSignal;
  /** Null until it is known how to recognise the server, and again after it was not the one. */
  private agent: Agent | null = null;

  /** @param stop aborts all calls */
  constructor(destination: Destination, identity: Identity, stop: AbortSignal) {
    this.destination = destination;
    this.identity = identity;
    this.stop = stop;
  }

  /**
   * @param options.json the body; undefined for none
   * @throws Unreachable, Interrupted
   */
  async call(
    method: string,
    path: string,
    options: { headers?: Record<string, string>; json?: string | undefined } = {},
  ): Promise<Received> {
    const incoming = await this.send(method, path, options);
    return toReceived(incoming, await readBody(incoming));
  }

  /**
   * Writes the body of a 200 to a new file and flushes it.
   * @param limit in bytes
   * @throws Unreachable, Interrupted
   * @throws Error when the body exceeds the limit, or is shorter or longer than its Content-Length
   */
  async download(path: string, file: string, limit: number): Promise<Downloaded> {
    const incoming = await this.send('GET', path, {});
    if (incoming.statusCode !== 200)
      return { ...toReceived(incoming, await readBody(incoming)), digest: null };
    const digest = await writeBody(incoming, file, limit);
    return { ...toReceived(incoming, Buffer.alloc(0)), digest };
  }

  close(): void {
    this.agent?.destroy();
    this.agent = null;
  }

  private async connect(): Promise<Agent> {
    const { certificate, key } = this.identity;
    this.agent ??= new Agent({
      ...{ keepAlive: true, cert: certificate, key },
      ...(await tlsFor(this.destination)),
    });
    return this.agent;
  }

  private async send(
    method: string,
    path: string,
    { headers = {}, json }: { headers?: Record<string, string>; json?: string | undefined },
  ): Promise<IncomingMessage> {
    const body = json === undefined ? undefined : Buffer.from(json);
    const entity = body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    const agent = await this.connect();
    const progress = { wasTrusted: false, wasConnected: false, hasAuthority: this.destination.ca !== null };
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent,
        host: hostOf(this.destination.server),
        port: portOf(this.destination.server),
        method,
        path,
        headers: { 'User-Agent': 'hawser-agent', ...entity, ...headers },
        timeout: SILENCE_LIMIT,
        signal: this.stop,
      });
      const silence = (): void => void outgoing.destroy(silenceOf());
      // The timeout of a request counts from the moment at which its socket is connected.
      const connecting = setTimeout(silence, SILENCE_LIMIT);
      const timer = setTimeout(() => outgoing.destroy(new Error('The server is too slow')), CALL_LIMIT);
      const trust = (): void => {
        progress.wasTrusted = true;
        clearTimeout(connecting);
      };
      outgoing.once('close', () => {
        clearTimeout(connecting);
        clearTimeout(timer);
      });
      outgoing.once('timeout', silence);
      outgoing.once('socket', (socket) => {
        if (outgoing.reusedSocket) trust();
        socket.once('connect', () => (progress.wasConnected = true));
        socket.once('secureConnect', trust);
      });
      outgoing.once('response', resolve);
      outgoing.once('error', (error) => reject(this.explain(error, progress)));
      outgoing.end(body);
    });
  }

  /** An error of a stop stays as it is. */
  private explain(error: Error, progress: Progress): Error {
    // A certificate of the server that was pinned may have been replaced, so it is looked for anew.
    if (!progress.wasTrusted) this.close();
    return this.stop.aborted ? error : toNoAnswer(error, progress);
  }
}

function silenceOf(): Error {
  return Object.assign(new Error('The server has gone silent'), { code: 'ETIMEDOUT' });
}

function toReceived(incoming: IncomingMessage, body: Buffer): Received {
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
}

/** The parts of a body. An error here is one of the connection, unlike those of whoever uses the parts. */
async function* partsOf(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* incoming as AsyncIterable<Buffer>;
  } catch (error) {
    throw new Interrupted(`The answer of the server broke off: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of partsOf(incoming)) {
    length += chunk.length;
    if (length > BODY_LIMIT) throw new Error(`The answer exceeds ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An answer that breaks off is a bad bundle here, like one with wrong bytes: the server is still there to be told. */
async function writeBody(incoming: IncomingMessage, path: string, limit: number): Promise<string> {
  const declared = incoming.headers['content-length'];
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  let length = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw new Error(`The bundle exceeds ${limit} bytes`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (declared !== undefined && Number(declared) !== length) throw new Error('The bundle is cut off');
  return hash.digest('base64');
}
