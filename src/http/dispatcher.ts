/** Carries out a route for a request: who calls, what they ask, then the handler, then the answer. */

import type { Database } from '../db/database.ts';
import { freezeLook } from '../db/freeze.ts';
import { resourceLock } from '../domain/lock-names.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { Clock } from '../lib/clock.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import { inTurn } from '../lib/request-parts.ts';
import type { AnySubject } from '../security/access.ts';
import { authorize } from '../security/authorize.ts';
import type { Principal } from '../security/principal.ts';
import { admits, notAcceptable } from './acceptable.ts';
import { type Answer, type Current, etagOf, JSON_MEDIA_TYPE, namesAny, requireMatch } from './answer.ts';
import { BodyReader, NO_BODY, type ReadBody, type RequestLimits } from './body-reader.ts';
import type { Authorization, CallerCheck } from './caller-check.ts';
import { endAfterAnswer } from './connections.ts';
import { queryOf } from './csv.ts';
import type { Exchange } from './exchange.ts';
import { Facts } from './facts.ts';
import { LoadShedder } from './load-shedder.ts';
import { respond } from './respond.ts';
import type { Method, Route } from './route.ts';
import { sessionCookie } from './session-cookie.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { membersOf, validate } from './validation.ts';

export interface DispatcherOptions {
  database: Database;
  clock: Clock;
  limits: RequestLimits;
  locks: Locks;
  /** More calls of nodes than this at a time are refused. */
  nodeCalls?: number | undefined;
  callers: CallerCheck;
  /** Told of every authenticated call of a node; must not wait for anything. */
  onNodeSeen(nodeId: string, now: number): void;
}

/** A request whose body is there. */
interface Call extends Address {
  ctx: Exchange;
  route: Route;
  authorization: Authorization;
  read: ReadBody;
  /** The time at which the whole body was there, in epoch milliseconds. */
  now: number;
}

const CONDITIONAL_METHODS: ReadonlySet<Method> = new Set(['PUT', 'PATCH', 'DELETE']);

export class Dispatcher {
  private readonly options: DispatcherOptions;
  private readonly callers: CallerCheck;
  private readonly load: LoadShedder;
  private readonly unread = new UnreadAnswers();
  private readonly bodies: BodyReader;
  private readonly gets: ReadonlyMap<string, Route>;

  constructor(options: DispatcherOptions, routes: readonly Route[]) {
    this.options = options;
    this.callers = options.callers;
    this.load = new LoadShedder(options.nodeCalls);
    this.bodies = new BodyReader(options.limits);
    this.gets = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [route.path, route]));
  }

  /**
   * Carries out the route and sends its answer. A poll makes no promise.
   * @throws HawserError whatever the access check, the validation or the handler finds; unavailable `overloaded` for
   *   nodes alone, so that administrators can still come in and see to it
   */
  dispatch(ctx: Exchange, route: Route): Awaitable<void> {
    const { state } = ctx;
    state.route = route;
    state.logLevel = route.logLevel ?? (route.method === 'GET' ? 'debug' : 'info');
    return andThen(this.answer(ctx, route), (answer) => {
      const { principal } = state;
      if (route.bound === 'user' && principal?.kind === 'user' && ctx.method !== 'HEAD')
        this.unread.admit(principal.userId, answer, ctx.res);
      respond(ctx, withRenewedSession(answer, principal));
      this.noteAnswered(ctx);
      route.answered?.(ctx, answer);
    });
  }

  private answer(ctx: Exchange, route: Route): Awaitable<Answer> {
    const now = this.options.clock.now();
    ctx.state.at = now;
    return andThen(this.callers.authorize(ctx, route, now), (authorization) => {
      const { subject } = authorization;
      this.admit(ctx, route, subject, now);
      const { params, query } = readAddress(route, ctx.params, queryOf(ctx, route));
      if (route.body === undefined)
        return this.carryOutInTurn({ ctx, route, authorization, params, query, read: NO_BODY, now });
      const began = performance.now();
      return andThen(this.bodies.read(route.body, ctx), (read) => {
        ctx.state.bodyMs = performance.now() - began;
        const arrived = this.options.clock.now();
        return this.carryOutInTurn({ ctx, route, authorization, params, query, read, now: arrived });
      });
    });
  }

  /** Counts open calls of nodes. A call that is answered at once, such as a poll, is never open, so it is not counted. */
  private carryOutInTurn(call: Call): Awaitable<Answer> {
    const { principal } = call.authorization.subject;
    if (principal?.kind !== 'node') return this.carryOutLocked(call);
    const { nodeId } = principal.node;
    this.load.requirePlace(nodeId);
    const answer = this.carryOutLocked(call);
    if (answer instanceof Promise) call.ctx.state.leave = this.load.enter(nodeId);
    return answer;
  }

  /** Keeps a node's call open until the connection has taken the answer. */
  private noteAnswered({ state, res }: Exchange): void {
    const { principal } = state;
    if (principal?.kind !== 'node') return;
    if (res.closed || (res.writableEnded && !res.req.socket.writableNeedDrain)) {
      state.leave?.();
      return;
    }
    state.leave ??= this.load.enter(principal.node.nodeId);
    // The end of an answer that is sent as a stream is waited for elsewhere.
    if (state.streamedBytes === undefined) res.once('close', state.leave);
  }

  /** Runs the checks that come after access and before the body. */
  private admit(ctx: Exchange, route: Route, subject: AnySubject, now: number): void {
    const { principal } = subject;
    if (principal?.kind === 'node') {
      const { nodeId, pendingNotAfter } = principal.node;
      this.options.onNodeSeen(nodeId, now);
      this.load.admitConnection(nodeId, ctx.res);
      // The node has another certificate by now, but shows it only on a new connection.
      if (pendingNotAfter > now) endAfterAnswer(ctx.res);
    }
    route.admit?.(subject, now, Number(ctx.headers['content-length'] ?? 0));
    refuseUnacceptable(ctx, route);
  }

  private carryOut(call: Call): Awaitable<Answer> {
    const { route, authorization } = call;
    if (route.method === 'GET' && !route.waits)
      return route.handle(toInput(call, authorization.subject, call.now));
    call.ctx.state.reauthorize = () => this.callers.reauthorize(call, this.options.clock.now());
    return changesNodes(call) ? this.changeUnlessFrozen(call) : this.change(call, () => undefined);
  }

  /** A caller who may not do this is told so before the freeze. The deed looks again where it takes effect. */
  private changeUnlessFrozen(call: Call): Awaitable<Answer> {
    const { clock, database } = this.options;
    const look = freezeLook(() => clock.now());
    call.ctx.state.requireUnfrozen = look;
    return this.change(call, () => look(database.read));
  }

  /** @param admit looks at what may have changed since the call came, before the handler does */
  private change(call: Call, admit: () => Awaitable<void>): Awaitable<Answer> {
    const now = this.options.clock.now();
    return andThen(this.callers.reauthorize(call, now), (subject) =>
      andThen(admit(), () => call.route.handle(toInput(call, subject, now))),
    );
  }

  /**
   * Carries out a change under the lock of its resource, so that the resource cannot change after If-Match was
   * compared.
   */
  private carryOutLocked(call: Call): Awaitable<Answer> {
    const { ctx, route, read } = call;
    const path = route.represents ?? route.path;
    const isConditional = ctx.headers['if-match'] !== undefined;
    // What is made by POST has no validator yet, unless the body names what it is made of.
    const hasValidator =
      CONDITIONAL_METHODS.has(route.method) || (isConditional && route.namedInBody !== undefined);
    // A resource that nobody can read has no validator for If-Match.
    if (!hasValidator || (!isConditional && !this.gets.has(path))) return this.carryOut(call);
    const params = { ...ctx.params, ...route.namedInBody?.(read.body).params };
    const resource = path.replace(/\{\*?(\w+)\}/g, (_, name: string) => params[name] ?? '');
    if (isConditional) ctx.state.requireCurrent = () => this.requireCurrent(path, call);
    const locked = async () => {
      await ctx.state.requireCurrent?.();
      return this.carryOut(call);
    };
    // This wait comes before the lock, because others wait for the lock.
    const ready = this.options.database.requireWritable();
    const take = (work: () => Promise<Answer>) => this.options.locks.run(resourceLock(resource), work);
    return ready.then(() => inTurn(take, locked));
  }

  /**
   * Compares If-Match with the validator of the GET that the route represents, as the caller would get it.
   * @throws HawserError precondition_failed
   */
  private async requireCurrent(path: string, call: Call): Promise<void> {
    const ifMatch = call.ctx.headers['if-match'] ?? '';
    // Without a GET there is no validator. The handler finds out whether the resource exists.
    if (namesAny(ifMatch) && !this.gets.has(path)) return;
    const { principal } = await this.callers.reauthorize(call, this.options.clock.now());
    requireMatch(ifMatch, await this.current(path, call, principal));
  }

  private async current(path: string, call: Call, principal: Principal | null): Promise<Current> {
    const { ctx, read } = call;
    const route = this.gets.get(path);
    if (route === undefined) return null;
    try {
      const subject = await authorize(this.options.database, route.access, principal, ctx.params);
      const named = call.route.namedInBody?.(read.body);
      // The query may be a part of the name of the resource, such as the value of a scope.
      const query = membersOf(route.query, { ...queryOf(ctx, route), ...named?.query });
      const address = readAddress(route, { ...ctx.params, ...named?.params }, query);
      const input = toInput({ ctx, ...address, read: NO_BODY }, subject, this.options.clock.now());
      return { etag: etagOf(await route.handle(input)) };
    } catch (error) {
      // A caller who may not read the resource cannot know its validator, so none that is sent can match.
      if (error instanceof HawserError && ['not_found', 'forbidden'].includes(error.kind)) return null;
      throw error;
    }
  }
}

function changesNodes({ route: { changesNodes: changes }, query, read: { body } }: Call): boolean {
  return typeof changes === 'function' ? changes({ query, body }) : changes === true;
}

function withRenewedSession(answer: Answer, principal: Principal | null | undefined): Answer {
  if (principal?.kind !== 'user' || principal.renewedSession === null) return answer;
  const cookie = { 'Set-Cookie': sessionCookie(principal.renewedSession) };
  return { ...answer, headers: { ...cookie, ...answer.headers } };
}

function toInput(
  { ctx, params, query, read }: Pick<Call, 'ctx' | 'params' | 'query' | 'read'>,
  { principal, resource, node, content }: AnySubject,
  now: number,
): Parameters<Route['handle']>[0] {
  const { body, files, ignoredFiles, file } = read;
  // The members are named one by one, because V8 keeps a spread object as a dictionary. That costs each poll 5 µs.
  const facts = new Facts(ctx, now);
  return { principal, resource, node, content, params, query, body, files, ignoredFiles, file, facts };
}

/** This check comes before any change, because a caller who gets 406 believes that nothing was changed. */
function refuseUnacceptable(ctx: Exchange, route: Route): void {
  if (route.method === 'GET') return;
  const answersJson = Object.values(route.answers).some((answer) => answer.schema !== undefined);
  if (answersJson && !admits(ctx, JSON_MEDIA_TYPE)) throw notAcceptable(JSON_MEDIA_TYPE);
}

/** The path parameters and the query, parsed by the route's schemas. */
interface Address {
  params: unknown;
  query: unknown;
}

/** @throws HawserError not_found; invalid for the query */
function readAddress(route: Route, params: Record<string, string>, query: object): Address {
  const parsed = route.params?.safeParse(params);
  // A path parameter that breaks its schema names nothing.
  if (parsed?.success === false) throw notFound('Nothing has this address');
  return {
    params: parsed === undefined ? params : parsed.data,
    query: route.query ? validate(route.query, query, 'query') : undefined,
  };
}
