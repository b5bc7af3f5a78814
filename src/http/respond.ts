/** Puts an answer on the wire: headers, conditional GET, paging links. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { HawserError } from '../lib/errors.ts';
import type { Answer } from './answer.ts';
import { etagOf, namesValidator } from './conditional.ts';
import { type Exchange, PlainExchange } from './exchange.ts';
import { piecesOf, sendPieces, sendStream, WHOLE } from './pieces.ts';
import { NO_DOCUMENT, securityHeaders } from './security-headers.ts';

/**
 * Straight to Node: Koa's own response, made for bodies of every kind, costs some 6 µs more on every poll.
 * @throws HawserError not_acceptable when the Accept header excludes the answer's media type
 */
export function respond(ctx: Exchange, answer: Answer): void {
  refuseUnacceptable(ctx, answer);
  const isGet = ctx.method === 'GET' || ctx.method === 'HEAD';
  const etag = isGet ? etagOf(answer) : (answer.etag ?? null);
  const held = isGet && answer.status === 200 ? ctx.headers['if-none-match'] : undefined;
  const isHeld = held !== undefined && etag !== null && namesValidator(held, etag);
  const status = isHeld ? 304 : answer.status;
  const body = status === 304 || status === 204 ? null : (answer.body ?? '');
  const headers = headersOf(ctx, answer, etag, body);
  ctx.res.statusCode = status;
  // The caller is gone, or has been told already that the request is malformed.
  if (!ctx.writable) {
    if (body instanceof Readable) body.destroy();
  } else send(ctx, body, () => ctx.res.writeHead(status, headers));
}

function send(ctx: Exchange, body: Answer['body'], begin: () => ServerResponse): void {
  if (body instanceof Readable) sendStream(ctx, body, begin);
  else if (ctx.method === 'HEAD') begin().end();
  else if (isSentWhole(body)) begin().end(body);
  else if (typeof body === 'string') sendPieces(ctx, piecesOf(Buffer.from(body)), begin);
  else sendPieces(ctx, Buffer.isBuffer(body) ? piecesOf(body) : body, begin);
}

/** Whether it is handed to the connection in one go. */
function isSentWhole(body: Exclude<Answer['body'], Readable>): body is string | Buffer | null {
  return body === null || (body.length <= WHOLE && (typeof body === 'string' || Buffer.isBuffer(body)));
}

/** Names and values in turn, which is how Node writes them. */
function headersOf(ctx: Exchange, answer: Answer, etag: string | null, body: Answer['body']): string[] {
  const { requestId } = ctx.state;
  const headers = ['X-Request-Id', requestId, ...securityHeaders(ctx.req.socket)];
  // What polls is no browser.
  if (!(ctx instanceof PlainExchange) && answer.headers['Content-Security-Policy'] === undefined)
    headers.push(...NO_DOCUMENT);
  for (const name in answer.headers) {
    if (body !== null || name !== 'Content-Type') headers.push(name, answer.headers[name] as string);
  }
  if (etag !== null) headers.push('ETag', etag);
  if (answer.headers['Cache-Control'] === undefined)
    headers.push('Cache-Control', etag === null ? 'no-store' : 'private, no-cache');
  if (answer.page) headers.push(...pageHeaders(ctx, answer.page));
  if (body !== null && !(body instanceof Readable)) headers.push('Content-Length', String(lengthOf(body)));
  return headers;
}

function lengthOf(body: string | { length: number }): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** RFC 8288 link to the next page, keeping the filters. */
function pageHeaders(ctx: Exchange, { take, skip, total }: NonNullable<Answer['page']>): string[] {
  const headers = ['X-Total-Count', String(total)];
  if (skip + take >= total) return headers;
  const query = new URLSearchParams(ctx.querystring);
  query.set('take', String(take));
  query.set('skip', String(skip + take));
  return [...headers, 'Link', `<${ctx.path}?${query}>; rel="next"`];
}

function refuseUnacceptable(ctx: Exchange, answer: Answer): void {
  if (ctx.headers.accept === undefined || answer.status >= 300 || answer.body === null) return;
  const type = answer.headers['Content-Type'] ?? '';
  if (type !== '' && !admits(ctx, type)) throw notAcceptable(type);
}

/** The part of a request that its Accept header is judged by. */
export type Negotiator = Pick<Exchange, 'headers' | 'accepts'>;

/**
 * Whether the Accept header, if there is one, admits the media type. A range may name the charset too (RFC 9110 12.5.1),
 * and then means the type with that parameter alone.
 */
export function admits(negotiator: Negotiator, type: string): boolean {
  const { accept } = negotiator.headers;
  if (accept === undefined || accept === '*/*' || accept === type) return true;
  return negotiator.accepts(bareTypeOf(type)) !== false || negotiator.accepts(type) !== false;
}

export function notAcceptable(type: string): HawserError {
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${bareTypeOf(type)} only`);
}

function bareTypeOf(type: string): string {
  return type.split(';', 1)[0] ?? '';
}
