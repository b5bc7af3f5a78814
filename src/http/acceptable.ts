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

/**
 * The content coding that the caller likes best, the first where it likes several alike; null where it is best sent as it
 * is. Koa would take the caller's order, and browsers name gzip first.
 * @param header the value of `Accept-Encoding`
 */
export function preferredCoding<T extends string>(
  header: string | undefined,
  codings: readonly T[],
): T | null {
  if (header === undefined) return null;
  const weights = new Map(header.split(',').map(weightOf));
  let best: T | null = null;
  let most = weights.get('identity') ?? 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > most || (best === null && weight > 0 && weight === most)) {
      best = coding;
      most = weight;
    }
  }
  return best;
}

/** Reads an entry such as `gzip;q=0.5` (RFC 9110 12.4.2). */
function weightOf(entry: string): [name: string, weight: number] {
  const [name = '', weight] = entry.toLowerCase().split(/\s*;\s*q=/);
  return [name.trim(), weight === undefined ? 1 : Number(weight)];
}

export function notAcceptable(...types: readonly string[]): HawserError {
  const named = types.map(bareTypeOf).join(' or ');
  return new HawserError('not_acceptable', 'not_acceptable', `This answers with ${named} only`);
}

function bareTypeOf(type: string): string {
  return type.split(';', 1)[0] ?? '';
}
