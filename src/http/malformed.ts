/** Answers what never became a request. The answers are written by hand, in the form that all errors have. */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SECOND } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';

/** Who is told of each answer. */
export interface Watchers {
  log: Log;
  /** Counts the answer by its code. */
  onProblem(code: string): void;
}

interface Fault {
  status: number;
  code: string;
  detail: string;
  headers?: Record<string, string>;
}

const MALFORMED: Fault = {
  status: 400,
  code: 'malformed_request',
  detail: 'The request is not valid HTTP/1.1.',
};
const FAULTS: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'header_too_large',
    detail: 'The request line and headers together exceed 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'The request did not arrive completely in time.',
  },
};
/** CONNECT asks for a tunnel to another server, which this server does not give (RFC 9110 9.3.6). */
const NO_PROXY: Fault = {
  status: 405,
  code: 'method_not_allowed',
  detail: 'This server is no proxy and does not answer to CONNECT.',
  headers: { Allow: 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' },
};
/**
 * The address is not written out: the Host header has not been read, and the address of this socket may be one behind a
 * proxy, which nobody outside should learn.
 */
const NO_TLS: Fault = {
  status: 400,
  code: 'https_required',
  detail:
    'This port speaks HTTPS, and the request came without TLS: write https:// in place of http:// in the URL.',
};
/** The codes by which OpenSSL says that a connection begins with a request of HTTP in place of a handshake. */
const HTTP_WITHOUT_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_HTTPS_PROXY_REQUEST',
]);
/** The other side may take so many milliseconds to read the answer before the connection is cut. */
const LINGER = SECOND;

/**
 * Answers a request that cannot be parsed or came too slowly, then closes. Whatever else went wrong with a
 * connection (handshake, reset) only ends it.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  openAnswers: readonly ServerResponse[],
  watchers: Watchers,
): void {
  const fault = faultOf(error);
  if (fault === null || !mayAnswer(socket, openAnswers)) {
    watchers.log.debug({ code: error.code, remoteAddress: socket.remoteAddress }, 'connection failed');
    // An ended connection waits for its answer to be read. More bad input in that time changes nothing.
    if (!socket.writableEnded) socket.destroy();
    return;
  }
  endWith(fault, socket, watchers, error.code);
}

/** Refuses a CONNECT, which Node hands over as a bare connection, and closes it. */
export function answerConnect(
  socket: Socket,
  openAnswers: readonly ServerResponse[],
  watchers: Watchers,
): void {
  // Node has removed its own listener.
  socket.on('error', () => undefined);
  if (openAnswers.length > 0 || !socket.writable) socket.destroy();
  else endWith(NO_PROXY, socket, watchers, 'CONNECT');
}

/** Whether the first bytes of a connection of the TLS port were a request of plain HTTP. */
export function isPlainHttp({ code = '' }: NodeJS.ErrnoException): boolean {
  return HTTP_WITHOUT_TLS.has(code);
}

/**
 * Tells a client of plain HTTP that the port wants HTTPS, and closes. OpenSSL has judged by the first five bytes. Nobody
 * looks at the rest.
 * @param socket the one beneath that of TLS, which cannot send any more
 */
export function answerPlainHttp(socket: Socket, watchers: Watchers): void {
  socket.on('error', () => undefined);
  if (socket.writable) endWith(NO_TLS, socket, watchers, 'plain HTTP');
  else socket.destroy();
}

function endWith(
  fault: Fault,
  socket: Socket,
  { log, onProblem }: Watchers,
  reason: string | undefined,
): void {
  const requestId = newId();
  onProblem(fault.code);
  log.info({ requestId, status: fault.status, code: fault.code, reason }, 'request refused');
  socket.end(toMessage(fault, requestId));
  setTimeout(() => socket.destroy(), LINGER).unref();
}

/**
 * How many Host headers a request has. Node shows only the first. Every poll pays some 100 ns for it.
 */
export function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** HTTP/1.1 requires one Host header, and no version allows several (RFC 9112 3.2). */
export function answerBadHost(response: ServerResponse, count: number, { onProblem }: Watchers): void {
  const detail = count === 0 ? 'The Host header is missing.' : 'There is more than one Host header.';
  const { status, headers, body } = toParts({ ...MALFORMED, detail }, newId());
  onProblem(MALFORMED.code);
  response.writeHead(status, headers).end(body);
}

function faultOf(error: NodeJS.ErrnoException): Fault | null {
  const code = error.code ?? '';
  return FAULTS[code] ?? (code.startsWith('HPE_') ? MALFORMED : null);
}

/** No answer may follow one that has begun, or come before one that an earlier request still waits for. */
function mayAnswer(socket: Socket, openAnswers: readonly ServerResponse[]): boolean {
  if (!socket.writable || openAnswers.length > 1) return false;
  return openAnswers.every((response) => !response.req.complete && !response.headersSent);
}

function toMessage(fault: Fault, requestId: string): string {
  const { status, headers, body } = toParts(fault, requestId);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function toParts({ status, code, detail, headers: more }: Fault, requestId: string) {
  const body = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, code });
  const headers = {
    Date: new Date().toUTCString(),
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    Connection: 'close',
    ...more,
  };
  return { status, headers, body };
}
