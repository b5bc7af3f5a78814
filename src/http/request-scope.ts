/** The outermost middleware: request id, one log line, and every error turned into its problem answer. */

import type { HawserError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { BASIC_CHALLENGE, plainProblem, problemAnswer, toHawserError } from './problem.ts';
import type { RequestState } from './request-state.ts';
import { respond } from './respond.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Carries out a request's work inside its scope; never rejects. */
export type RequestScope = (ctx: Exchange, work: () => Promise<void>) => Promise<void>;

export function requestScope(log: Log, translateError: (error: unknown) => unknown): RequestScope {
  return async (ctx, work) => {
    const start = performance.now();
    const given = ctx.headers['x-request-id'];
    const { state } = ctx;
    state.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
    let failure: HawserError | null = null;
    try {
      await work();
    } catch (error) {
      failure = toHawserError(error, translateError);
      answerFailure(ctx, failure);
    }
    if (state.streamedBytes !== undefined) logWhenSent(log, ctx, start);
    else logRequest(log, ctx, performance.now() - start, failure);
  };
}

/** An answer in the making counts as done when its last byte is out, or when it is broken off. */
function logWhenSent(log: Log, ctx: Exchange, start: number): void {
  const { res } = ctx;
  res.once('close', () => {
    const { streamedBytes: bytes } = ctx.state;
    const sent = {
      ...(bytes === undefined ? {} : { bytes }),
      ...(res.writableFinished ? {} : { brokenOff: true }),
    };
    logRequest(log, ctx, performance.now() - start, null, sent);
  });
}

function answerFailure(ctx: Exchange, failure: HawserError): void {
  const { caller } = ctx.state;
  const answer = problemFor(ctx, failure, caller);
  // An agent that has just changed its certificate must shake hands anew, so its connection ends here. Git asks
  // without credentials first, every time.
  if (answer.status === 401 && ctx.headers.authorization === undefined && caller !== 'git')
    answer.headers['Connection'] = 'close';
  respond(ctx, answer);
}

function problemFor(ctx: Exchange, failure: HawserError, caller: RequestState['caller']): Answer {
  if (caller !== 'git') return problemAnswer(failure);
  return /^git\//i.test(ctx.headers['user-agent'] ?? '')
    ? plainProblem(failure)
    : problemAnswer(failure, BASIC_CHALLENGE);
}

function logRequest(
  log: Log,
  ctx: Exchange,
  milliseconds: number,
  failure: HawserError | null,
  sent: { bytes?: number; brokenOff?: boolean } = {},
): void {
  const state = ctx.state;
  const level = failure ? failureLevel(failure) : (state.logLevel ?? 'info');
  if (!log.isLevelEnabled(level)) return;
  const caller = state.principal;
  log[level](
    {
      requestId: state.requestId,
      method: ctx.method,
      path: ctx.path,
      status: ctx.res.statusCode,
      ms: Math.round(milliseconds * 10) / 10,
      ...(caller?.kind === 'user' ? { userId: caller.userId } : {}),
      ...(caller?.kind === 'node' ? { nodeId: caller.node.nodeId } : {}),
      ...sent,
      ...(failure ? { code: failure.code, detail: failure.message } : {}),
      ...(failure?.cause && level === 'error' ? { err: failure.cause } : {}),
    },
    'request',
  );
}

function failureLevel(failure: HawserError): 'error' | 'warn' | 'info' {
  if (failure.kind === 'internal' || failure.kind === 'storage_full') return 'error';
  return failure.kind === 'unavailable' ? 'warn' : 'info';
}
