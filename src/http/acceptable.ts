/** Finds out whether the Accept header of a request admits an answer. */

import type { Context } from 'koa';
import { HawserError } from '../lib/errors.ts';

/**
 * Whether the Accept header, if there is one, admits the media type. A range may name the charset too (RFC 9110 12.5.1),
 * and then means the type with that parameter alone.
 */
export function admits(ctx: Pick<Context, 'headers' | 'accepts'>, type: string): boolean {
  const { accept } = ctx.headers;
  if (accept === undefined || accept === '*/*' || accept === type) return true;
  return ctx.accepts(bareTypeOf(type)) !== false || ctx.accepts(type) !== false;
}

/**
 * The media type that the caller likes best, the first where it takes all alike; null where the Accept header excludes
 * all of them. A range may name the charset of text and JSON too.
 */
export function preferredOf<T extends string>(ctx: Pick<Context, 'accepts'>, types: readonly T[]): T | null {
  const forms = types.flatMap((type) => [type, `${type}; charset=utf-8`]);
  const liked = ctx.accepts(...forms);
  return types.find((type) => typeof liked === 'string' && bareTypeOf(liked) === type) ?? null;
}

export function notAcceptable(...types: readonly string[]): HawserError {
  const named = types.map(bareTypeOf).join(' or ');
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${named} only`);
}

function bareTypeOf(type: string): string {
  return type.split(';', 1)[0] ?? '';
}
