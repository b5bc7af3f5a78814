/** The outermost middleware: request id, one log line, and every error turned into its problem answer. */

import type { Context, Next } from 'koa';
import type { HawserError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { problemAnswer, toHawserError } from './problem.ts';
import type { RequestState } from './request-state.ts';
import { respond } from './respond.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function requestScope(log: Log, translateError: (error: unknown) => unknown) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const start = performance.now();
    const given = ctx.headers['x-request-id'];
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
    const state = ctx.state as RequestState;
    state.requestId = requestId;
    let failure: HawserError | null = null;
    try {
      await next();
    } catch (error) {
      failure = toHawserError(error, translateError);
      answerFailure(ctx, failure);
    }
    logRequest(log, ctx, performance.now() - start, failure);
  };
}

function answerFailure(ctx: Context, failure: HawserError): void {
  const answer = problemAnswer(failure);
  // An agent that has just changed its certificate must shake hands anew, so its connection ends here.
  if (answer.status === 401 && ctx.headers.authorization === undefined)
    answer.headers['Connection'] = 'close';
  respond(ctx, answer);
}

function logRequest(log: Log, ctx: Context, milliseconds: number, failure: HawserError | null): void {
  const state = ctx.state as RequestState;
  const level = failure ? failureLevel(failure) : (state.logLevel ?? 'info');
  if (!log.isLevelEnabled(level)) return;
  const caller = state.principal;
  log[level](
    {
      requestId: state.requestId,
      method: ctx.method,
      path: ctx.path,
      status: ctx.status,
      ms: Math.round(milliseconds * 10) / 10,
      ...(caller?.kind === 'user' ? { userId: caller.userId } : {}),
      ...(caller?.kind === 'node' ? { nodeId: caller.node.nodeId } : {}),
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
