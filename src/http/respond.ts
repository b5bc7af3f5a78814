/** Puts an answer on the wire: headers, conditional GET, paging links. */

import type { Context } from 'koa';
import { HawserError } from '../lib/errors.ts';
import type { Answer } from './answer.ts';
import { etagOf, namesValidator } from './conditional.ts';

export const JSON_MEDIA_TYPE = 'application/json';

/** @throws HawserError not_acceptable when the Accept header excludes the answer's media type */
export function respond(ctx: Context, answer: Answer): void {
  const isGet = ctx.method === 'GET' || ctx.method === 'HEAD';
  refuseUnacceptable(ctx, answer);
  ctx.status = answer.status;
  for (const name in answer.headers) ctx.set(name, answer.headers[name] as string);
  const etag = isGet ? etagOf(answer) : (answer.etag ?? null);
  if (etag !== null) ctx.set('ETag', `"${etag}"`);
  if (answer.headers['Cache-Control'] === undefined)
    ctx.set('Cache-Control', etag === null ? 'no-store' : 'private, no-cache');
  if (answer.page) setPageHeaders(ctx, answer.page);
  const known = isGet && etag !== null ? ctx.headers['if-none-match'] : undefined;
  if (known !== undefined && answer.status === 200 && namesValidator(known, etag as string)) {
    ctx.status = 304;
    return;
  }
  if (answer.body !== null) ctx.body = answer.body;
  else if (answer.status !== 204) ctx.body = '';
}

/** RFC 8288 link to the next page, keeping the filters. */
function setPageHeaders(ctx: Context, { take, skip, total }: NonNullable<Answer['page']>): void {
  ctx.set('X-Total-Count', String(total));
  if (skip + take >= total) return;
  const query = new URLSearchParams(ctx.querystring);
  query.set('take', String(take));
  query.set('skip', String(skip + take));
  ctx.set('Link', `<${ctx.path}?${query}>; rel="next"`);
}

function refuseUnacceptable(ctx: Context, answer: Answer): void {
  if (ctx.headers.accept === undefined || answer.status >= 300 || answer.body === null) return;
  const type = (answer.headers['Content-Type'] ?? '').split(';', 1)[0] ?? '';
  if (type !== '' && !admits(ctx, type)) throw notAcceptable(type);
}

/** Whether the Accept header, if there is one, admits the media type. */
export function admits(ctx: Context, type: string): boolean {
  const { accept } = ctx.headers;
  return accept === undefined || accept === '*/*' || accept === type || ctx.accepts(type) !== false;
}

export function notAcceptable(type: string): HawserError {
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${type} only`);
}
