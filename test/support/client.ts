/** A plain HTTPS client that sends exactly the path, headers and bytes it is given. */

import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { checkReply } from './contract.ts';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** The body as JSON; throws where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  json: any;
}

export interface Call {
  headers?: Record<string, string>;
  /** Sent as application/json. */
  json?: unknown;
  /** Sent as it is; give the content type in the headers. */
  body?: string | Buffer;
  form?: Form;
}

export interface Form {
  fields?: Record<string, string>;
  /** Parts named `files`: path to content. */
  files?: Record<string, string | Buffer>;
  archive?: Buffer;
  /** The one file of a route that names its part. */
  part?: { name: string; filename?: string; type?: string; content: string | Buffer };
}

export interface Identity {
  cert: string;
  key: string;
}

export interface Client {
  call(method: string, path: string, call?: Call): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, json?: unknown): Promise<Reply>;
  put(path: string, json?: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
  upload(path: string, form: Form): Promise<Reply>;
  /** The same client with more headers on every call. */
  with(headers: Record<string, string>): Client;
  close(): void;
}

export interface Target {
  port: number;
  /** PEM of the authority behind the server's certificate. */
  ca: string;
  /** Without TLS. */
  isPlain?: boolean;
}

/** Every call is rejected whose reply is not one that docs/openapi.json declares. */
export function makeClient(target: Target, identity?: Identity): Client {
  const connection = connect(target, identity);
  const send = async (wire: Wire) => {
    const reply = await connection.send(wire);
    const { status, headers, bytes } = reply;
    checkReply({ method: wire.method, path: wire.path, status, headers, bytes });
    return reply;
  };
  return clientOver({ ...connection, send }, {});
}

/** For what measures: such a call takes no more time than the server and the wire. */
export function makeUncheckedClient(target: Target, identity?: Identity): Client {
  return clientOver(connect(target, identity), {});
}

interface Connection {
  send(wire: Wire): Promise<Reply>;
  close(): void;
}

function connect(target: Target, identity?: Identity): Connection {
  // A node keeps within what it may have open at once.
  const options = { keepAlive: true, ...(identity && { maxSockets: 8 }) };
  const agent = target.isPlain
    ? new PlainAgent(options)
    : new Agent({ ...options, ca: target.ca, ...identity });
  return { send: (wire) => send(agent, target, wire), close: () => agent.destroy() };
}

function clientOver(connection: Connection, defaults: Record<string, string>): Client {
  const call = (method: string, path: string, options: Call = {}): Promise<Reply> => {
    const { headers, body } = encode(options);
    return connection.send({ method, path, headers: { ...defaults, ...headers, ...options.headers }, body });
  };
  return {
    call,
    get: (path, headers = {}) => call('GET', path, { headers }),
    post: (path, json) => call('POST', path, json === undefined ? {} : { json }),
    put: (path, json) => call('PUT', path, json === undefined ? {} : { json }),
    delete: (path) => call('DELETE', path),
    upload: (path, form) => call('POST', path, { form }),
    with: (headers) => clientOver(connection, { ...defaults, ...headers }),
    close: () => connection.close(),
  };
}

interface Wire {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

function send(
  agent: PlainAgent,
  { port, isPlain }: Target,
  { method, path, headers, body }: Wire,
): Promise<Reply> {
  const length: Record<string, string> =
    body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = (isPlain ? plainRequest : request)(
      { agent, host: 'localhost', port, method, path, headers: { ...length, ...headers } },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve(toReply(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks))),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function toReply(status: number, headers: Reply['headers'], bytes: Buffer): Reply {
  return {
    status,
    headers,
    bytes,
    get text() {
      return bytes.toString('utf8');
    },
    get json() {
      return JSON.parse(bytes.toString('utf8'));
    },
  };
}

function encode({ json, body, form }: Call): {
  headers: Record<string, string>;
  body: string | Buffer | undefined;
} {
  if (json !== undefined)
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json) };
  if (form === undefined) return { headers: {}, body };
  const boundary = 'hawser-test-boundary-7d1f';
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: encodeForm(form, boundary),
  };
}

/** A multipart body whose file names are written as they are, folders and all. */
export function encodeForm({ fields = {}, files = {}, archive, part }: Form, boundary: string): Buffer {
  const parts: Buffer[] = [];
  const add = (disposition: string, type: string, content: string | Buffer) => {
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n`));
    parts.push(Buffer.from(content), Buffer.from('\r\n'));
  };
  for (const [name, value] of Object.entries(fields)) add(`name="${name}"`, '', value);
  for (const [path, content] of Object.entries(files)) {
    add(`name="files"; filename="${path}"`, 'Content-Type: application/octet-stream\r\n', content);
  }
  if (archive) add('name="archive"; filename="a.zip"', 'Content-Type: application/zip\r\n', archive);
  if (part) {
    const filename = part.filename === undefined ? '' : `; filename="${part.filename}"`;
    const type = part.type === undefined ? '' : `Content-Type: ${part.type}\r\n`;
    add(`name="${part.name}"${filename}`, type, part.content);
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(parts);
}
