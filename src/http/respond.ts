/** Puts an answer on the wire: headers, conditional GET, paging links. */

import type { Context } from 'koa';
import { HawserError } from '../lib/errors.ts';
import type { Answer } from './answer.ts';
import { etagOf, namesValidator } from './conditional.ts';
import type { RequestState } from './request-state.ts';

export const JSON_MEDIA_TYPE = 'application/json';

/**
 * Straight to Node: Koa's own response, made for bodies of every kind, costs some 6 µs more on every poll.
 * @throws HawserError not_acceptable when the Accept header excludes the answer's media type
 */
export function respond(ctx: Context, answer: Answer): void {
  refuseUnacceptable(ctx, answer);
  const isGet = ctx.method === 'GET' || ctx.method === 'HEAD';
  const etag = isGet ? etagOf(answer) : (answer.etag ?? null);
  const held = isGet && answer.status === 200 ? ctx.headers['if-none-match'] : undefined;
  const isHeld = held !== undefined && etag !== null && namesValidator(held, etag);
  const status = isHeld ? 304 : answer.status;
  const body = status === 304 || status === 204 ? null : (answer.body ?? '');
  const headers = headersOf(ctx, answer, etag, body);
  ctx.respond = false;
  ctx.res.statusCode = status;
  // The caller is gone, or has been told already that the request is malformed.
  if (ctx.writable) ctx.res.writeHead(status, headers).end(body);
}

/** Names and values in turn, which is how Node writes them. */
function headersOf(ctx: Context, answer: Answer, etag: string | null, body: Answer['body']): string[] {
  const { requestId } = ctx.state as RequestState;
  const headers = ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  for (const name in answer.headers) {
    if (body !== null || name !== 'Content-Type') headers.push(name, answer.headers[name] as string);
  }
  if (etag !== null) headers.push('ETag', `"${etag}"`);
  if (answer.headers['Cache-Control'] === undefined)
    headers.push('Cache-Control', etag === null ? 'no-store' : 'private, no-cache');
  if (answer.page) headers.push(...pageHeaders(ctx, answer.page));
  if (body !== null) headers.push('Content-Length', String(Buffer.byteLength(body)));
  return headers;
}

/** RFC 8288 link to the next page, keeping the filters. */
function pageHeaders(ctx: Context, { take, skip, total }: NonNullable<Answer['page']>): string[] {
  const headers = ['X-Total-Count', String(total)];
  if (skip + take >= total) return headers;
  const query = new URLSearchParams(ctx.querystring);
  query.set('take', String(take));
  query.set('skip', String(skip + take));
  return [...headers, 'Link', `<${ctx.path}?${query}>; rel="next"`];
}

function refuseUnacceptable(ctx: Context, answer: Answer): void {
  if (ctx.headers.accept === undefined || answer.status >= 300 || answer.body === null) return;
  const type = (answer.headers['Content-Type'] ?? '').split(';', 1)[0] ?? '';
  if (type !== '' && !admits(ctx, type)) throw notAcceptable(type);
}

/** The part of a request that its Accept header is judged by. */
export type Negotiator = Pick<Context, 'headers' | 'accepts'>;

/** Whether the Accept header, if there is one, admits the media type. */
export function admits(negotiator: Negotiator, type: string): boolean {
  const { accept } = negotiator.headers;
  return accept === undefined || accept === '*/*' || accept === type || negotiator.accepts(type) !== false;
}

export function notAcceptable(type: string): HawserError {
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${type} only`);
}
