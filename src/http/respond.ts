/** Makes an answer a response: status, headers, conditional GET, paging links. Koa sends it, or Node itself for polls. */

import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Context } from 'koa';
import { admits, notAcceptable } from './acceptable.ts';
import { type Answer, etagOf, namesValidator } from './answer.ts';
import { type Exchange, PlainExchange } from './exchange.ts';
import { openPieces, piecesOf, WHOLE, watchMade } from './pieces.ts';

/** The headers of every answer. They forbid a browser to guess another media type. */
const ANYWHERE = ['X-Content-Type-Options', 'nosniff'];
/** Leaves out subdomains, which may be other machines. Plain HTTP must not carry it (RFC 6797 7.2). */
const OVER_TLS = [...ANYWHERE, 'Strict-Transport-Security', 'max-age=31536000'];

/** Makes a browser run nothing in the answer, and show it in no frame. */
const NO_DOCUMENT = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** They say nothing where there is no body. */
const OF_BODIES: ReadonlySet<string> = new Set(['Content-Type', 'Content-Encoding']);

/** The body as it is sent. */
type Sent = string | Buffer | Readable | null;

/**
 * Koa's `ctx.fresh` is not asked for 304: it answers no to every request with `Cache-Control: no-cache`, which fetch()
 * adds wherever a script names `If-None-Match`.
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
  if (ctx instanceof PlainExchange) sendPlain(ctx, status, headers, body);
  else sendByKoa(ctx as unknown as Context & Exchange, status, headers, body);
}

/** Koa's own response, made for bodies of every kind, costs some 6 µs more on every poll. */
function sendPlain(ctx: PlainExchange, status: number, headers: string[], body: Answer['body']): void {
  const { res } = ctx;
  res.statusCode = status;
  // The caller is gone, or has been told already that the request is malformed.
  if (!ctx.writable) return;
  res.writeHead(status, headers);
  const sent = toSend(ctx, body);
  if (sent instanceof Readable) pipeline(sent, res, () => undefined);
  else res.end(sent);
}

function sendByKoa(ctx: Context & Exchange, status: number, headers: string[], body: Answer['body']): void {
  const sent = toSend(ctx, body);
  if (sent instanceof Readable) {
    // Koa would ask whether it is a Response of fetch(), for which Node loads that first: no poll is answered for 30 ms.
    ctx.respond = false;
    ctx.status = status;
    if (ctx.writable) ctx.res.writeHead(status, headers);
    pipeline(sent, ctx.res, (error) => error && ctx.app.emit('error', error, ctx));
    return;
  }
  // The body goes first, because with null Koa sets a status of its own and takes headers away.
  ctx.body = sent || null;
  ctx.status = status;
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] as string, headers[at + 1] as string);
}

function toSend(ctx: Exchange, body: Answer['body']): Sent {
  if (body instanceof Readable) return watchMade(ctx, body);
  if (body === null || ctx.method === 'HEAD') return null;
  const isSmall = body.length !== null && body.length <= WHOLE;
  if (typeof body === 'string') return isSmall ? body : openPieces(ctx, piecesOf(Buffer.from(body)));
  if (Buffer.isBuffer(body)) return isSmall ? body : openPieces(ctx, piecesOf(body));
  return openPieces(ctx, body);
}

/** Names and values in turn, which is how Node writes them. */
function headersOf(ctx: Exchange, answer: Answer, etag: string | null, body: Answer['body']): string[] {
  const headers = ['X-Request-Id', ctx.state.requestId, ...securityHeaders(ctx.req.socket)];
  // What polls is no browser.
  if (!(ctx instanceof PlainExchange) && answer.headers['Content-Security-Policy'] === undefined)
    headers.push(...Object.entries(NO_DOCUMENT).flat());
  for (const name in answer.headers) {
    if (body !== null || !OF_BODIES.has(name)) headers.push(name, answer.headers[name] as string);
  }
  if (etag !== null) headers.push('ETag', etag);
  if (answer.headers['Cache-Control'] === undefined)
    headers.push('Cache-Control', etag === null || answer.page ? 'no-store' : 'private, no-cache');
  if (answer.page) headers.push(...pageHeaders(ctx, answer.page));
  const length = body === null || body instanceof Readable ? null : lengthOf(body);
  if (length !== null) headers.push('Content-Length', String(length));
  return headers;
}

/** Names and values in turn. They are constant, since the poll pays for every header. */
export function securityHeaders(socket: Socket): readonly string[] {
  return (socket as Partial<TLSSocket>).encrypted === true ? OVER_TLS : ANYWHERE;
}

function lengthOf(body: string | { length: number | null }): number | null {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** RFC 8288 link to the next page, keeping the filters. */
function pageHeaders(ctx: Exchange, { take, skip, total, next }: NonNullable<Answer['page']>): string[] {
  const headers = ['X-Total-Count', String(total)];
  if (skip + take >= total) return headers;
  const query = new URLSearchParams(ctx.querystring);
  query.set('take', String(take));
  query.delete('skip');
  for (const [name, value] of Object.entries(next ?? { skip: String(skip + take) })) query.set(name, value);
  return [...headers, 'Link', `<${ctx.state.pathById ?? ctx.path}?${query}>; rel="next"`];
}

function refuseUnacceptable(ctx: Exchange, answer: Answer): void {
  if (ctx.headers.accept === undefined || answer.status >= 300 || answer.body === null) return;
  const type = answer.headers['Content-Type'] ?? '';
  if (type !== '' && !admits(ctx, type)) throw notAcceptable(type);
}
