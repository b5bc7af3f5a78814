/** Carries out a route for a request: who calls, what they ask, then the handler, then the answer. */

import type { Database } from '../db/open.ts';
import { resourceLock } from '../domain/lock-names.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { Clock } from '../lib/clock.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import type { AnySubject } from '../security/access.ts';
import { authorize } from '../security/authorize.ts';
import { Identifier } from '../security/identify.ts';
import type { Principal } from '../security/principal.ts';
import { type Answer, type Current, etagOf, JSON_MEDIA_TYPE, namesAny, requireMatch } from './answer.ts';
import {
  authenticate,
  refuseCrossSite,
  refuseCrossSiteSession,
  requireMetricsToken,
  sessionHolder,
} from './authenticate.ts';
import { BodyReader, NO_BODY, type ReadBody, type RequestLimits } from './body-reader.ts';
import type { Exchange } from './exchange.ts';
import { Facts } from './facts.ts';
import { LoadShedder } from './load-shedder.ts';
import { admits, notAcceptable, respond } from './respond.ts';
import type { Method, Route } from './route.ts';
import { sessionCookie } from './session-cookie.ts';
import { validate } from './validation.ts';

export interface DispatcherOptions {
  database: Database;
  clock: Clock;
  limits: RequestLimits;
  locks: Locks;
  /** More calls of nodes than this at a time are refused. */
  nodeCallsAtOnce: number;
  /** SHA-256 of the token that opens the metrics, in hexadecimal; null where none is configured. */
  metricsTokenHash: string | null;
  /** Told of every authenticated call of a node; must not wait for anything. */
  onNodeSeen(nodeId: string, now: number): void;
}

/** Who calls, and in which state of the rights that was found. */
interface Authorization {
  subject: AnySubject;
  generation: number;
  accessGeneration: number;
}

/** What the path and the query say, as the route's schemas give it. */
interface Address {
  params: unknown;
  query: unknown;
}

/** A request whose body is there. */
interface Call extends Address {
  ctx: Exchange;
  route: Route;
  authorization: Authorization;
  read: ReadBody;
  /** Epoch milliseconds at which all of it was there. */
  now: number;
}

const CONDITIONAL_METHODS: ReadonlySet<Method> = new Set(['PUT', 'PATCH', 'DELETE']);

export class Dispatcher {
  private readonly options: DispatcherOptions;
  private readonly identifier: Identifier;
  private readonly load: LoadShedder;
  private readonly bodies: BodyReader;
  private readonly gets: ReadonlyMap<string, Route>;

  constructor(options: DispatcherOptions, routes: readonly Route[]) {
    this.options = options;
    this.identifier = new Identifier(options.database);
    this.load = new LoadShedder(options.nodeCallsAtOnce);
    this.bodies = new BodyReader(options.limits);
    this.gets = new Map(routes.filter(({ method }) => method === 'GET').map((route) => [route.path, route]));
  }

  /**
   * Carries out the route and answers with what it gives. Of a poll nothing is a promise.
   * @throws HawserError whatever the access check, the validation or the handler finds; unavailable `overloaded` for
   *   nodes alone, so that administrators can still come in and see to it
   */
  dispatch(ctx: Exchange, route: Route): Awaitable<void> {
    const { state } = ctx;
    state.route = route;
    state.logLevel = route.logLevel ?? (route.method === 'GET' ? 'debug' : 'info');
    return andThen(this.answer(ctx, route), (answer) => {
      respond(ctx, withRenewedSession(answer, state.principal));
      this.noteAnswered(ctx);
    });
  }

  private answer(ctx: Exchange, route: Route): Awaitable<Answer> {
    const now = this.options.clock.now();
    return andThen(this.authorizeCaller(ctx, route, now), (authorization) => {
      const { subject } = authorization;
      this.admit(ctx, route, subject, now);
      const { params, query } = readAddress(route, ctx.params, ctx.query);
      if (route.body === undefined)
        return this.carryOutInTurn({ ctx, route, authorization, params, query, read: NO_BODY, now });
      return andThen(this.bodies.read(route.body, ctx), (read) => {
        const arrived = this.options.clock.now();
        return this.carryOutInTurn({ ctx, route, authorization, params, query, read, now: arrived });
      });
    });
  }

  /** Of a node's call that is answered at once, as a poll is, nothing need be counted. */
  private carryOutInTurn(call: Call): Awaitable<Answer> {
    const { principal } = call.authorization.subject;
    if (principal?.kind !== 'node') return this.carryOutLocked(call);
    const { nodeId } = principal.node;
    this.load.requirePlace(nodeId);
    const answer = this.carryOutLocked(call);
    if (answer instanceof Promise) call.ctx.state.leave = this.load.enter(nodeId);
    return answer;
  }

  /** Until the connection has taken the answer, a node's call is open. */
  private noteAnswered({ state, res }: Exchange): void {
    const { principal } = state;
    if (principal?.kind !== 'node') return;
    if (res.closed || (res.writableEnded && !res.req.socket.writableNeedDrain)) {
      state.leave?.();
      return;
    }
    state.leave ??= this.load.enter(principal.node.nodeId);
    // The end of what is sent as a stream is waited for anyway.
    if (state.streamedBytes === undefined) res.once('close', state.leave);
  }

  /** Finds who calls and whether they may. For a poll nothing is waited for: all of it is in memory. */
  private authorizeCaller(ctx: Exchange, route: Route, now: number): Awaitable<Authorization> {
    const { changes } = this.options.database;
    // Before anything is answered from memory: another process of this server may have written.
    changes.catchUp();
    const { generation, accessGeneration } = changes;
    return andThen(this.identify(ctx, route, now), (principal) => {
      ctx.state.principal = principal;
      return andThen(authorize(this.options.database, route.access, principal, ctx.params), (subject) => ({
        subject,
        generation,
        accessGeneration,
      }));
    });
  }

  private identify(ctx: Exchange, { access, body, caller }: Route, now: number): Awaitable<Principal | null> {
    const { req: request, params, state } = ctx;
    if (body?.kind === 'form') refuseCrossSite(request);
    if (access.kind === 'metrics') {
      requireMetricsToken(request, this.options.metricsTokenHash);
      return null;
    }
    if (access.kind !== 'public') {
      const takesBasic = caller === 'git';
      const nodeId = params['nodeId'] ?? '';
      return authenticate(this.identifier, request, { requestId: state.requestId, now, nodeId, takesBasic });
    }
    refuseCrossSiteSession(request);
    return access.knowsSession ? sessionHolder(this.identifier, request, now) : null;
  }

  /**
   * Rights count at the moment of the deed: a body may come long after its head, and a lock may be waited for. While
   * nothing was changed that rights rest on, which memory knows, the first authorization stands.
   */
  private reauthorize({ ctx, route, authorization }: Call, now: number): Awaitable<AnySubject> {
    if (this.stillHolds(authorization, now)) return authorization.subject;
    return andThen(this.authorizeCaller(ctx, route, now), ({ subject }) => subject);
  }

  private stillHolds({ subject, generation, accessGeneration }: Authorization, now: number): boolean {
    const { changes } = this.options.database;
    const { principal } = subject;
    changes.catchUp();
    if (changes.generation !== generation || changes.accessGeneration !== accessGeneration) return false;
    if (principal === null) return true;
    // Whose certificate it is stands in memory anyway.
    if (principal.kind === 'node') return false;
    return principal.credentialEndsAt === null || principal.credentialEndsAt > now;
  }

  /** What follows once it is known that the caller may use the route. */
  private admit(ctx: Exchange, route: Route, subject: AnySubject, now: number): void {
    const { principal } = subject;
    if (principal?.kind === 'node') {
      this.options.onNodeSeen(principal.node.nodeId, now);
      this.load.admitConnection(principal.node.nodeId, ctx.res);
    }
    route.admit?.(subject, now, Number(ctx.headers['content-length'] ?? 0));
    refuseUnacceptable(ctx, route);
  }

  private carryOut(call: Call): Awaitable<Answer> {
    const { route, authorization } = call;
    if (route.method === 'GET') return route.handle(toInput(call, authorization.subject, call.now));
    const now = this.options.clock.now();
    return andThen(this.reauthorize(call, now), (subject) => route.handle(toInput(call, subject, now)));
  }

  /**
   * Carries out a change with no other write of the same resource in between, so that what If-Match was compared with
   * still stands.
   */
  private carryOutLocked(call: Call): Awaitable<Answer> {
    const { ctx, route } = call;
    const path = route.represents ?? route.path;
    const isConditional = ctx.headers['if-match'] !== undefined;
    // What nobody can read has no validator that a write could be checked against.
    if (!CONDITIONAL_METHODS.has(route.method) || (!isConditional && !this.gets.has(path)))
      return this.carryOut(call);
    const resource = path.replace(/\{\*?(\w+)\}/g, (_, name: string) => ctx.params[name] ?? '');
    const locked = async () => {
      if (isConditional) await this.requireCurrent(path, call);
      return this.carryOut(call);
    };
    // Before the lock, behind which others would add their waiting to this one's.
    const ready = this.options.database.requireWritable();
    return ready.then(() => this.options.locks.run(resourceLock(resource), locked));
  }

  /**
   * The current validator is that of the GET which the route represents, asked in the caller's own name.
   * @throws HawserError precondition_failed
   */
  private async requireCurrent(path: string, call: Call): Promise<void> {
    const ifMatch = call.ctx.headers['if-match'] ?? '';
    // What has no GET has no validator to know, and whether it is there the handler finds out.
    if (namesAny(ifMatch) && !this.gets.has(path)) return;
    const { principal } = await this.reauthorize(call, this.options.clock.now());
    requireMatch(ifMatch, await this.current(path, call.ctx, principal));
  }

  private async current(path: string, ctx: Exchange, principal: Principal | null): Promise<Current> {
    const route = this.gets.get(path);
    if (route === undefined) return null;
    try {
      const subject = await authorize(this.options.database, route.access, principal, ctx.params);
      const address = readAddress(route, ctx.params, {});
      const input = toInput({ ctx, ...address, read: NO_BODY }, subject, this.options.clock.now());
      return { etag: etagOf(await route.handle(input)) };
    } catch (error) {
      // Who may not read it knows no validator of it, so none that is sent can be the current one.
      if (error instanceof HawserError && ['not_found', 'forbidden'].includes(error.kind)) return null;
      throw error;
    }
  }
}

function withRenewedSession(answer: Answer, principal: Principal | null | undefined): Answer {
  if (principal?.kind !== 'user' || principal.renewedSession === null) return answer;
  const cookie = { 'Set-Cookie': sessionCookie(principal.renewedSession) };
  return { ...answer, headers: { ...cookie, ...answer.headers } };
}

function readAddress(route: Route, params: Record<string, string>, query: object): Address {
  const parsed = route.params?.safeParse(params);
  // A path parameter that breaks its schema names nothing.
  if (parsed?.success === false) throw notFound('Nothing has this address');
  return {
    params: parsed === undefined ? params : parsed.data,
    query: route.query ? validate(route.query, { ...query }, 'query') : undefined,
  };
}

function toInput(
  { ctx, params, query, read }: Pick<Call, 'ctx' | 'params' | 'query' | 'read'>,
  { principal, resource, node, content }: AnySubject,
  now: number,
): Parameters<Route['handle']>[0] {
  const { body, files, file } = read;
  // Named one by one: spreading makes an object that V8 keeps as a dictionary, some 5 µs on every poll.
  const facts = new Facts(ctx, now);
  return { principal, resource, node, content, params, query, body, files, file, facts };
}

/** Before anything is changed: a caller who then got 406 would take the change for refused. */
function refuseUnacceptable(ctx: Exchange, route: Route): void {
  if (route.method === 'GET') return;
  const answersJson = Object.values(route.answers).some((answer) => answer.schema !== undefined);
  if (answersJson && !admits(ctx, JSON_MEDIA_TYPE)) throw notAcceptable(JSON_MEDIA_TYPE);
}
