/** The outermost middleware: request id, one log line, and every error turned into its problem answer. */

import { type Awaitable, thenOrElse } from '../lib/awaitable.ts';
import { DatabaseAway, type HawserError } from '../lib/errors.ts';
import { makeIdCounter } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { withAddressHint } from './address-hints.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { endOf } from './facts.ts';
import { BASIC_CHALLENGE, plainProblem, problemAnswer, toHawserError } from './problem.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';
import { describeParts, ownTime } from './slow-requests.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Milliseconds. */
const SLOW = 1_000;
const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

export interface RequestLog {
  log: Log;
  /** A request that takes the server longer than this, in milliseconds, is told of as slow. */
  slowMs?: number | undefined;
  /** Is called for each request that fails because the database is away. The log tells of them together. */
  onDatabaseAway(): void;
}

/** Counts requests. Every poll pays for it, so it must cost next to nothing. */
export interface RequestWatch {
  begin(): void;
  /**
   * Called once for each `begin`, when the answer is out or broken off.
   * @param route undefined where none was found
   * @param code of the problem; undefined of a success, and of a refusal that nobody is told
   */
  end(route: Route | undefined, status: number, milliseconds: number, code: string | undefined): void;
}

interface Failed {
  failure: HawserError;
  /** Whether it can be answered. The client may have gone, or have been told that its request is malformed. */
  isTold: boolean;
}

/** Milliseconds from the head of a request to the end of its answer, and to the head of the answer. */
interface Times {
  milliseconds: number;
  untilAnswer: number;
}

export class RequestScope {
  private readonly log: Log;
  private readonly onDatabaseAway: () => void;
  private readonly watch: RequestWatch;
  private readonly translateError: (error: unknown) => unknown;
  private readonly nextId = makeIdCounter();
  private readonly slowMs: number;
  /** Levels that the log takes. They are kept here, because a poll is of a level that it mostly does not take. */
  private levels: ReadonlySet<string> = new Set();

  /** @param translateError gives errors of the database their `HawserError` */
  constructor(
    { log, slowMs = SLOW, onDatabaseAway }: RequestLog,
    watch: RequestWatch,
    translateError: (error: unknown) => unknown,
  ) {
    this.log = log;
    this.onDatabaseAway = onDatabaseAway;
    this.slowMs = slowMs;
    this.watch = watch;
    this.translateError = translateError;
    const readLevels = () => {
      this.levels = new Set(LEVELS.filter((level) => log.isLevelEnabled(level)));
    };
    readLevels();
    log.on('level-change', readLevels);
  }

  /** Carries out a request's work. Whatever the work throws is answered. */
  run(ctx: Exchange, work: () => Awaitable<void>): Awaitable<void> {
    const start = performance.now();
    this.watch.begin();
    const given = ctx.headers['x-request-id'];
    ctx.state.requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : this.nextId();
    return thenOrElse(
      work,
      () => this.conclude(ctx, start, null),
      (error) => {
        const failure = withAddressHint(toHawserError(error, this.translateError), ctx);
        const isTold = ctx.writable;
        answerFailure(ctx, failure);
        this.conclude(ctx, start, { failure, isTold });
      },
    );
  }

  /** An answer that is sent as a stream is done when its last byte is out, or when it is broken off. */
  private conclude(ctx: Exchange, start: number, failed: Failed | null): void {
    const { state } = ctx;
    const milliseconds = performance.now() - start;
    if (state.streamedBytes === undefined) {
      // What tells of a failure is small, and handed over in one go.
      if (failed !== null) state.leave?.();
      this.end(ctx, { milliseconds, untilAnswer: milliseconds }, failed);
      return;
    }
    const onEnd = () => {
      state.leave?.();
      this.end(ctx, { milliseconds: performance.now() - start, untilAnswer: milliseconds }, null);
    };
    const over = endOf(ctx);
    if (over.aborted) onEnd();
    else over.addEventListener('abort', onEnd, { once: true });
  }

  private end(ctx: Exchange, { milliseconds, untilAnswer }: Times, failed: Failed | null): void {
    const failure = failed?.failure ?? null;
    const usual = failure ? failureLevel(failure) : (ctx.state.logLevel ?? 'info');
    const isAway = failure instanceof DatabaseAway;
    if (isAway) this.onDatabaseAway();
    // What is wrong with the server counts, even if the client has gone.
    const counts = failed?.isTold === true || usual === 'error' || isAway;
    this.watch.end(ctx.state.route, ctx.res.statusCode, milliseconds, counts ? failure?.code : undefined);
    const isSlow = untilAnswer > this.slowMs && ownTime(ctx, untilAnswer) > this.slowMs;
    const level = isSlow && usual !== 'error' && !isAway ? 'warn' : usual;
    if (!this.levels.has(level)) return;
    const slow = isSlow ? { slow: true, parts: describeParts(ctx, ownTime(ctx, untilAnswer)) } : {};
    this.log[level]({ ...logLine(ctx, level, milliseconds, failure), ...slow }, 'request');
  }
}

function logLine(ctx: Exchange, level: string, milliseconds: number, failure: HawserError | null): object {
  const { requestId, principal, streamedBytes: bytes } = ctx.state;
  const isBrokenOff = bytes !== undefined && !ctx.res.writableFinished;
  return {
    requestId,
    method: ctx.method,
    path: ctx.path,
    status: ctx.res.statusCode,
    ms: Math.round(milliseconds * 10) / 10,
    ...(principal?.kind === 'user' ? { userId: principal.userId } : {}),
    ...(principal?.kind === 'node' ? { nodeId: principal.node.nodeId } : {}),
    ...(bytes === undefined ? {} : { bytes }),
    ...(isBrokenOff ? { brokenOff: true } : {}),
    ...(failure ? { code: failure.code, detail: failure.message } : {}),
    // What is refused is the fault of the caller, and says why.
    ...(failure?.cause && level !== 'info' ? { err: failure.cause } : {}),
  };
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
    return route.showFailure(failure, principal, ctx.querystring);
  if (!isOfGit(ctx)) return problemAnswer(failure);
  return /^git\//i.test(ctx.headers['user-agent'] ?? '')
    ? plainProblem(failure)
    : problemAnswer(failure, BASIC_CHALLENGE);
}

/** Whether git itself calls the route, which is told of refusals in another form. */
function isOfGit({ state }: Exchange): boolean {
  return state.route?.caller === 'git';
}

function failureLevel(failure: HawserError): (typeof LEVELS)[number] {
  if (failure instanceof DatabaseAway) return 'debug';
  if (failure.kind === 'internal' || failure.kind === 'storage_full') return 'error';
  // A fault of the disk or the database: somebody must see to it, where all else of this kind passes by itself.
  if (failure.code === 'unavailable' && failure.cause !== undefined) return 'error';
  return failure.kind === 'unavailable' ? 'warn' : 'info';
}
