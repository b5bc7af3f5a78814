/** Sends a list as CSV, from its first item to its last, as fast as the client takes it. */

import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { csvLine } from '../domain/csv.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { preferredOf } from './acceptable.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { WHOLE } from './pieces.ts';
import { parseQuery } from './query.ts';
import type { Route } from './route.ts';

/** The media type has no parameters here, because the Accept header and the API description name it without them. */
export const CSV = 'text/csv';

type Item = Readonly<Record<string, unknown>>;

/**
 * Making a slice takes a millisecond or two. All lists that are being sent share the turns of the event loop, one slice
 * to each caller, so that polls wait no longer for ten lists than for one.
 */
const turns = new FairQueue({ slots: 1 });

/**
 * One line with the names of the columns, then one for each item. No slice is made before the client has taken most of
 * those before it, and none after the client has gone. If a slice fails, the answer breaks off without its end.
 * @param slices is not looked at where the answer has no body, as that of HEAD
 * @param caller is the one in whose turn slices are made
 */
export function csvAnswer(
  columns: readonly string[],
  slices: AsyncIterable<readonly Item[]>,
  caller: string,
): Answer {
  const open = () =>
    Readable.from(linesOf(columns, slices, caller), { objectMode: false, highWaterMark: WHOLE });
  return {
    status: 200,
    headers: { 'Content-Type': `${CSV}; charset=utf-8` },
    body: { length: null, open },
  };
}

/**
 * The members of a request's query. `take` and `skip` are not looked at where the list is sent whole, so that even bad
 * ones are no fault.
 */
export function queryOf(ctx: Exchange, { wholeAs }: Route): Record<string, string | string[]> {
  const query = parseQuery(ctx.querystring);
  if (wholeAs === undefined || preferredOf(ctx, ['application/json', wholeAs]) !== wholeAs) return query;
  const { take: _take, skip: _skip, ...others } = query;
  return others;
}

async function* linesOf(
  columns: readonly string[],
  slices: AsyncIterable<readonly Item[]>,
  caller: string,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(columns));
  for await (const items of slices) {
    const lines = items.map((item) => csvLine(columns.map((column) => item[column])));
    if (lines.length > 0) yield Buffer.from(lines.join(''));
    await turns.run(caller, () => nextTurn());
  }
}
