/** Answers to what never became a request: written by hand, in the one shape that all errors have. */

import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SECOND } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Exchange } from './connections.ts';

interface Fault {
  status: number;
  code: string;
  detail: string;
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
/** How long the other side may take to read the answer before the connection is cut. */
const LINGER = SECOND;

/**
 * Answers a request that cannot be parsed or came too slowly, then closes. Whatever else went wrong with a
 * connection (handshake, reset) only ends it.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  exchanges: readonly Exchange[],
  log: Log,
): void {
  const fault = faultOf(error);
  if (fault === null || !mayAnswer(socket, exchanges)) {
    log.debug({ code: error.code, remoteAddress: socket.remoteAddress }, 'connection failed');
    // Once ended it lingers, for the answer to be read; more bad input in that time changes nothing.
    if (!socket.writableEnded) socket.destroy();
    return;
  }
  const requestId = newId();
  log.info({ requestId, status: fault.status, code: fault.code, reason: error.code }, 'request refused');
  socket.end(toMessage(fault, requestId));
  setTimeout(() => socket.destroy(), LINGER).unref();
}

/** HTTP/1.1 requires a Host header (RFC 9112 3.2). */
export function answerMissingHost(response: ServerResponse): void {
  const { status, headers, body } = toParts({ ...MALFORMED, detail: 'The Host header is missing.' }, newId());
  response.writeHead(status, headers).end(body);
}

function faultOf(error: NodeJS.ErrnoException): Fault | null {
  const code = error.code ?? '';
  return FAULTS[code] ?? (code.startsWith('HPE_') ? MALFORMED : null);
}

/** Not behind an answer that has begun, nor ahead of one that an earlier request is still waiting for. */
function mayAnswer(socket: Socket, exchanges: readonly Exchange[]): boolean {
  if (!socket.writable || exchanges.length > 1) return false;
  return exchanges.every(({ request, response }) => !request.complete && !response.headersSent);
}

function toMessage(fault: Fault, requestId: string): string {
  const { status, headers, body } = toParts(fault, requestId);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function toParts({ status, code, detail }: Fault, requestId: string) {
  const body = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail, code });
  const headers = {
    Date: new Date().toUTCString(),
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  return { status, headers, body };
}
