/** HTTPS calls to the server with the node's certificate. Nothing is sent before the server has proven its identity. */

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect } from 'node:tls';
import { HOUR, SECOND } from '../lib/clock.ts';
import type { Identity } from './certificates.ts';
import type { AgentSettings } from './settings.ts';

/** The address of the server, and how the agent recognises it. */
type Destination = Pick<AgentSettings, 'server' | 'ca' | 'fingerprint'>;

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

const SILENCE_LIMIT = 60 * SECOND;
const CALL_LIMIT = 1 * HOUR;
const BODY_LIMIT = 1024 * 1024;

export class Connection {
  private readonly destination: Destination;
  private readonly agent: Agent;
  private readonly stop: AbortSignal;

  /** @param stop aborts all calls */
  constructor(destination: Destination, identity: Identity, stop: AbortSignal) {
    const { ca, fingerprint } = destination;
    const options = {
      ...{ keepAlive: true, cert: identity.certificate, key: identity.key },
      ...(ca === null ? {} : { ca }),
    };
    this.destination = destination;
    this.agent =
      fingerprint === null ? new Agent(options) : new PinnedAgent(options, fingerprint, ca === null);
    this.stop = stop;
  }

  /** @param options.json the body; undefined for none */
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
    this.agent.destroy();
  }

  private send(
    method: string,
    path: string,
    { headers = {}, json }: { headers?: Record<string, string>; json?: string | undefined },
  ): Promise<IncomingMessage> {
    const body = json === undefined ? undefined : Buffer.from(json);
    const entity = body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    const { hostname, port } = this.destination.server;
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent: this.agent,
        // An IPv6 address has brackets in a URL, but must not have them here.
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? 443 : port,
        method,
        path,
        headers: { 'User-Agent': 'hawser-agent', ...entity, ...headers },
        timeout: SILENCE_LIMIT,
        signal: this.stop,
      });
      const timer = setTimeout(() => outgoing.destroy(new Error('The server is too slow')), CALL_LIMIT);
      outgoing.once('close', () => clearTimeout(timer));
      outgoing.once('timeout', () => outgoing.destroy(new Error('The server has gone silent')));
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }
}

/** Uses a connection only if the server's certificate is the pinned one. */
class PinnedAgent extends Agent {
  private readonly fingerprint: string;

  /** @param pinOnly whether the fingerprint alone identifies the server, without an authority */
  constructor(options: AgentOptions, fingerprint: string, pinOnly: boolean) {
    super({ ...options, rejectUnauthorized: !pinOnly });
    this.fingerprint = fingerprint;
  }

  override createConnection(
    options: ConnectionOptions,
    done: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const socket = connect(options);
    const fail = (error: Error): void => done(error);
    // The timeout of a request starts only when it has a socket.
    const timer = setTimeout(() => socket.destroy(new Error('The server has gone silent')), SILENCE_LIMIT);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      const presented = socket.getPeerCertificate().fingerprint256 ?? '';
      if (presented.replaceAll(':', '').toLowerCase() !== this.fingerprint) {
        socket.destroy(new Error("The server's certificate is not the pinned one"));
        return;
      }
      clearTimeout(timer);
      socket.off('error', fail);
      done(null, socket);
    });
  }
}

function toReceived(incoming: IncomingMessage, body: Buffer): Received {
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_LIMIT) throw new Error(`The answer exceeds ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

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
