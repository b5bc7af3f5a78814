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

export function notAcceptable(...types: readonly string[]): HawserError {
  const named = types.map(bareTypeOf).join(' or ');
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${named} only`);
}

function bareTypeOf(type: string): string {
  return type.split(';', 1)[0] ?? '';
}
