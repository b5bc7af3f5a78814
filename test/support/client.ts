/** A client over supertest that sends exactly the path, headers and bytes it is given, and keeps the bytes it gets. */

import { Agent as PlainAgent } from 'node:http';
import { Agent } from 'node:https';
import { posix } from 'node:path';
import { type Response, Test } from 'supertest';
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
    const { headers, ...content } = options;
    return connection.send({ method, path, headers: { ...defaults, ...headers }, ...content });
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

interface Wire extends Omit<Call, 'headers'> {
  method: string;
  path: string;
  headers: Record<string, string>;
}

async function send(
  agent: PlainAgent,
  { port, isPlain }: Target,
  { method, path, headers, ...content }: Wire,
): Promise<Reply> {
  const request = new Test(`${isPlain ? 'http' : 'https'}://localhost:${port}`, method, path)
    .agent(agent)
    .unset('Accept-Encoding')
    .parse(readBytes);
  fill(request, content);
  for (const [name, value] of Object.entries(headers)) request.set(name, value);
  // superagent writes a URL in its normal form; a test may be about another one.
  request.on('request', ({ req }) => {
    req.path = path;
  });
  const { status, headers: received, body } = await request.ok(() => true).catch(withCode);
  return toReply(status, received, Buffer.isBuffer(body) ? body : Buffer.alloc(0));
}

/** supertest puts an error without a code in place of one of the system, whose code stands in its message. */
function withCode(error: Error): never {
  const [, code] = /^(E[A-Z]+): /.exec(error.message) ?? [];
  throw code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code });
}

/** Keeps the bytes of every answer, whatever its media type. */
function readBytes(response: Response, done: (error: Error | null, bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => done(null, Buffer.concat(chunks)));
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

function fill(request: Test, { json, body, form }: Omit<Call, 'headers'>): void {
  if (json !== undefined) sendBytes(request.type('application/json'), JSON.stringify(json));
  else if (form === undefined) {
    if (body !== undefined) sendBytes(request, body);
  } else if (isWrittenAsGiven(form)) attach(request, form);
  else sendBytes(request.type(`multipart/form-data; boundary=${BOUNDARY}`), encodeForm(form, BOUNDARY));
}

/** Sends bytes and not text, because superagent gives text a type where the test gives none. */
function sendBytes(request: Test, body: string | Buffer): void {
  const bytes = Buffer.from(body);
  // superagent writes a Buffer in pieces of 16 KiB, and any other array at once.
  request.serialize(() => new Uint8Array(bytes) as unknown as string).send(bytes);
}

const BOUNDARY = 'hawser-test-boundary-7d1f';

/** Whether superagent, with form-data, writes this form as it is: with some part, and the names of files unchanged. */
function isWrittenAsGiven({ fields = {}, files = {}, archive, part }: Form): boolean {
  const isKept = (path: string) => path === posix.normalize(path) && !/["\\\r\n]/.test(path);
  const names = Object.keys(files);
  const isEmpty = names.length + Object.keys(fields).length === 0 && archive === undefined;
  return part === undefined && !isEmpty && names.every(isKept);
}

function attach(request: Test, { fields = {}, files = {}, archive }: Form): void {
  for (const [name, value] of Object.entries(fields)) request.field(name, value);
  for (const [filepath, content] of Object.entries(files)) {
    const options: object = { filepath, contentType: 'application/octet-stream' };
    request.attach('files', Buffer.from(content), options);
  }
  if (archive) request.attach('archive', archive, 'a.zip');
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
