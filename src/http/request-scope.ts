/** The outermost middleware: request id, one log line, and every error turned into its problem answer. */

import { type Awaitable, settle } from '../lib/awaitable.ts';
import type { HawserError } from '../lib/errors.ts';
import { makeIdCounter } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { BASIC_CHALLENGE, plainProblem, problemAnswer, toHawserError } from './problem.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Carries out a request's work inside its scope; whatever the work throws is answered. */
export type RequestScope = (ctx: Exchange, work: () => Awaitable<void>) => Awaitable<void>;

/** Counts requests. Every poll pays for it, so it must cost next to nothing. */
export interface RequestWatch {
  begin(): void;
  /**
   * Once for each `begin`, when the answer is out or broken off.
   * @param route undefined where none was found
   * @param code of the problem, undefined of a success
   */
  end(route: Route | undefined, status: number, milliseconds: number, code: string | undefined): void;
}

interface Witnesses {
  log: Log;
  watch: RequestWatch;
}

type Level = 'error' | 'warn' | 'info' | 'debug';

/** With what the log takes at all, which is asked once: every poll is of a level that it mostly does not. */
interface Told extends Witnesses {
  isTold: Record<Level, boolean>;
}

export function requestScope(
  witnesses: Witnesses,
  translateError: (error: unknown) => unknown,
): RequestScope {
  const { watch, log } = witnesses;
  const told: Told = {
    ...witnesses,
    isTold: {
      error: log.isLevelEnabled('error'),
      warn: log.isLevelEnabled('warn'),
      info: log.isLevelEnabled('info'),
      debug: log.isLevelEnabled('debug'),
    },
  };
  const nextId = makeIdCounter();
  return (ctx, work) => {
    const start = performance.now();
    watch.begin();
    const given = ctx.headers['x-request-id'];
    const { state } = ctx;
    state.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : nextId();
    const conclude = (failure: HawserError | null): void => {
      if (state.streamedBytes !== undefined) {
        endWhenSent(told, ctx, start);
        return;
      }
      // What tells of a failure is small, and handed over in one go.
      if (failure !== null) state.leave?.();
      end(told, ctx, start, failure);
    };
    return settle(
      work,
      () => conclude(null),
      (error) => {
        const failure = toHawserError(error, translateError);
        answerFailure(ctx, failure);
        conclude(failure);
      },
    );
  };
}

/** An answer in the making counts as done when its last byte is out, or when it is broken off. */
function endWhenSent(told: Told, ctx: Exchange, start: number): void {
  const { res } = ctx;
  res.once('close', () => {
    const { streamedBytes: bytes, leave } = ctx.state;
    leave?.();
    const sent = {
      ...(bytes === undefined ? {} : { bytes }),
      ...(res.writableFinished ? {} : { brokenOff: true }),
    };
    end(told, ctx, start, null, sent);
  });
}

function end(
  { log, watch, isTold }: Told,
  ctx: Exchange,
  start: number,
  failure: HawserError | null,
  sent?: SentFacts,
): void {
  const milliseconds = performance.now() - start;
  watch.end(ctx.state.route, ctx.res.statusCode, milliseconds, failure?.code);
  const level = failure ? failureLevel(failure) : (ctx.state.logLevel ?? 'info');
  if (isTold[level]) logRequest(log, level, ctx, { milliseconds, failure, ...sent });
}

interface Ending extends SentFacts {
  milliseconds: number;
  failure: HawserError | null;
}

/** Of an answer that was sent as a stream. */
interface SentFacts {
  bytes?: number;
  brokenOff?: boolean;
}

function answerFailure(ctx: Exchange, failure: HawserError): void {
  const answer = problemFor(ctx, failure);
  // An agent that has just changed its certificate must shake hands anew, so its connection ends here. Git asks
  // without credentials first, every time.
  if (answer.status === 401 && ctx.headers.authorization === undefined && !isOfGit(ctx))
    answer.headers['Connection'] = 'close';
  respond(ctx, answer);
}

function problemFor(ctx: Exchange, failure: HawserError): Answer {
  const { route, principal = null } = ctx.state;
  if (route?.showFailure && ctx.accepts('application/problem+json', 'text/html') === 'text/html')
    return route.showFailure(failure, principal);
  if (!isOfGit(ctx)) return problemAnswer(failure);
  return /^git\//i.test(ctx.headers['user-agent'] ?? '')
    ? plainProblem(failure)
    : problemAnswer(failure, BASIC_CHALLENGE);
}

/** Whether git itself calls the route, which is told of refusals in another form. */
function isOfGit({ state }: Exchange): boolean {
  return state.route?.caller === 'git';
}

function logRequest(log: Log, level: Level, ctx: Exchange, { milliseconds, failure, ...sent }: Ending): void {
  const state = ctx.state;
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
  // A fault of the disk or the database: somebody must see to it, where all else of this kind passes by itself.
  if (failure.code === 'unavailable' && failure.cause !== undefined) return 'error';
  return failure.kind === 'unavailable' ? 'warn' : 'info';
}
