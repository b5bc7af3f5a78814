/** A real HTTP server that uses readUpload, and forms that are written byte by byte. */

import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import Koa, { type Context } from 'koa';
import { readUpload, uploadPlaces } from '../../src/http/uploads.ts';
import { type FieldError, HawserError } from '../../src/lib/errors.ts';
import type { FairQueue } from '../../src/lib/fair-queue.ts';

export const LIMITS = { bytes: 100_000, files: 5, fieldBytes: 1000 };
export const SHAPE = { fields: ['name', 'version'] };
/** More than the largest body that these limits allow. */
export const FAR_TOO_MUCH = 400_000;

export interface Outcome {
  status: number;
  code?: string;
  /** The code of the first of the errors. */
  fault?: string;
  message?: string;
  errors?: FieldError[];
  fields?: Record<string, string>;
  files?: Record<string, string>;
  /** Absent where nothing was left out. */
  ignoredFiles?: readonly string[];
}

const STATUS: Record<string, number> = {
  invalid: 400,
  timed_out: 408,
  too_large: 413,
  unsupported_media_type: 415,
};

let port = 0;
let places: FairQueue;
/** What each call of readUpload came to, in order, whether or not its client was still there. */
export const outcomes: Outcome[] = [];
const faults: unknown[] = [];

export const url = () => `http://127.0.0.1:${port}/`;

/** Starts and stops the server around the tests of a `describe`. POST uploads, and GET answers `here`. */
export function useUploadServer(): void {
  let server: Server;
  before(async () => {
    const app = new Koa().use(answer);
    app.silent = true;
    server = createServer(app.callback());
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    outcomes.length = 0;
    places = uploadPlaces();
    faults.length = 0;
  });
  afterEach(() => expect(faults).to.deep.equal([]));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
}

async function answer(ctx: Context): Promise<void> {
  if (ctx.method === 'GET') {
    ctx.body = 'here';
    return;
  }
  const over = new AbortController();
  ctx.res.once('close', () => over.abort());
  const outcome = await outcomeOf(ctx, over.signal);
  outcomes.push(outcome);
  ctx.status = outcome.status;
  ctx.body = outcome;
}

async function outcomeOf(ctx: Context, over: AbortSignal): Promise<Outcome> {
  try {
    const { fields, files, ignoredFiles } = await readUpload(ctx.req, LIMITS, SHAPE, {
      places,
      userId: String(ctx.headers['x-user']),
      over,
    });
    return {
      status: 200,
      fields: Object.fromEntries(fields),
      files: Object.fromEntries(files.map((file) => [file.path, file.content.toString()])),
      ...(ignoredFiles.length > 0 && { ignoredFiles }),
    };
  } catch (error) {
    if (!(error instanceof HawserError)) faults.push(error);
    const known = error instanceof HawserError ? error : new HawserError('internal', 'fault', String(error));
    const [fault] = (known.data['errors'] ?? []) as FieldError[];
    const { kind, code, message, data } = known;
    return { status: STATUS[kind] ?? 500, code, message, ...(fault && { fault: fault.code }), ...data };
  }
}

/** Makes a body from its parts. Header lines are Latin-1, so that any byte can be written. */
export function makeBody(parts: [header: string, content: string | Buffer][], tail = '--B--\r\n'): Buffer {
  const pieces = parts.flatMap(([header, content]) => [
    Buffer.from(`--B\r\n${header}\r\n\r\n`, 'latin1'),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(tail)]);
}

export const named = (rest: string) => `Content-Disposition: form-data; ${rest}`;
export const fileNamed = (filename: string) => named(`name="files"; filename="${filename}"`);

export async function postBody(
  body: Buffer | string | FormData,
  type: string | null = 'multipart/form-data; boundary=B',
): Promise<Outcome> {
  const headers: Record<string, string> = type === null ? {} : { 'content-type': type };
  const answered = await fetch(url(), { method: 'POST', body, headers });
  return (await answered.json()) as Outcome;
}

export async function openSocket(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.on('error', () => undefined);
  return socket;
}

export function head(length: number | 'chunked', user = 'ann'): string {
  const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST / HTTP/1.1\r\nHost: x\r\nX-User: ${user}\r\nContent-Type: multipart/form-data; boundary=B\r\n${framing}\r\n\r\n`;
}

export async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 500 && !condition(); round += 1) await sleep(10);
  expect(condition()).to.equal(true);
}
