/** Carries out one route for one request: who, what, then the handler, then the answer's conditions. */

import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { ZodType } from 'zod';
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
import { type Answer, JSON_MEDIA_TYPE } from './answer.ts';
import {
  authenticate,
  refuseCrossSite,
  refuseCrossSiteSession,
  requireMetricsToken,
  sessionHolder,
} from './authenticate.ts';
import { BodyReader, NO_BODY, type ReadBody, type RequestLimits } from './body-reader.ts';
import { type Current, etagOf, namesAny, requireMatch } from './conditional.ts';
import { Facts, type MatchedRequest } from './matched-request.ts';
import { NodeCalls } from './node-calls.ts';
import { NodeConnections } from './node-connections.ts';
import type { RequestState } from './request-state.ts';
import { admits, notAcceptable } from './respond.ts';
import type { Method, Route } from './route.ts';
import { validate } from './validation.ts';

export interface ServeOptions {
  database: Database;
  clock: Clock;
  limits: RequestLimits;
  locks: Locks;
  /** More calls of nodes than this at a time are refused. */
  nodeCallsAtOnce: number;
  /** SHA-256 of the token that opens the metrics, in hex; null where none is configured. */
  metricsTokenHash: string | null;
  /** Told of every authenticated call of a node; must not wait for anything. */
  onNodeSeen(nodeId: string, now: number): void;
}

export class RouteServer {
  private readonly options: ServeOptions;
  private readonly identifier: Identifier;
  private readonly nodeCalls: NodeCalls;
  private readonly nodeConnections = new NodeConnections();
  private readonly bodies: BodyReader;
  private readonly gets = new Map<string, Route>();

  constructor(options: ServeOptions, routes: readonly Route[]) {
    this.options = options;
    this.identifier = new Identifier(options.database);
    this.nodeCalls = new NodeCalls(options.nodeCallsAtOnce);
    this.bodies = new BodyReader(options.limits);
    for (const route of routes) if (route.method === 'GET') this.gets.set(route.path, route);
  }

  /**
   * @throws HawserError whatever the access check, the validation or the handler finds; unavailable `overloaded` for
   *   nodes alone, so that administrators can still come in and see to it
   */
  serve(route: Route, matched: MatchedRequest): Awaitable<Answer> {
    const now = this.options.clock.now();
    return andThen(this.lookAtCaller(route, matched, now), (look) => {
      this.admit(route, matched, look.subject, now);
      const asked = readAddress(route, matched);
      if (route.body === undefined) return this.begin({ route, matched, look, asked, read: NO_BODY, now });
      const { principal } = look.subject;
      return andThen(
        this.bodies.read(route.body, {
          ctx: matched.ctx as unknown as Context,
          over: matched.over,
          principal,
        }),
        (read) => this.begin({ route, matched, look, asked, read, now: this.options.clock.now() }),
      );
    });
  }

  /** Of a node's call that is answered at once, as a poll is, nothing need be counted. */
  private begin(turn: Turn): Awaitable<Answer> {
    const { principal } = turn.look.subject;
    if (principal?.kind !== 'node') return this.carryOutInTurn(turn);
    const { nodeId } = principal.node;
    this.nodeCalls.requirePlace(nodeId);
    const answer = this.carryOutInTurn(turn);
    if (answer instanceof Promise) turn.matched.state.leave = this.nodeCalls.enter(nodeId);
    return answer;
  }

  /** To be told of each answer that was put on its way: until the connection has taken it, a node's call is open. */
  noteAnswered(state: RequestState, response: ServerResponse): void {
    const { principal } = state;
    if (principal?.kind !== 'node') return;
    if (response.closed || (response.writableEnded && !response.req.socket.writableNeedDrain)) {
      state.leave?.();
      return;
    }
    state.leave ??= this.nodeCalls.enter(principal.node.nodeId);
    // The end of what is sent as a stream is waited for anyway.
    if (state.streamedBytes === undefined) response.once('close', state.leave);
  }

  /** Finds who calls and whether they may. For a poll nothing is waited for: all of it is in memory. */
  private lookAtCaller(route: Route, matched: MatchedRequest, now: number): Awaitable<Look> {
    const { changes } = this.options.database;
    // Before anything is answered from memory: another process of this server may have written.
    changes.catchUp();
    const { generation, accessGeneration } = changes;
    return andThen(this.identify(route, matched, now), (principal) => {
      matched.state.principal = principal;
      return andThen(
        authorize(this.options.database, route.access, principal, matched.params),
        (subject) => ({
          subject,
          generation,
          accessGeneration,
        }),
      );
    });
  }

  /**
   * Rights count at the moment of the deed: a body may come long after its head, and a lock may be waited for. While
   * nothing was changed that rights rest on, which memory knows, the first look stands.
   */
  private lookAgain({ route, matched, look }: Turn, now: number): Awaitable<AnySubject> {
    if (this.stands(look, now)) return look.subject;
    return andThen(this.lookAtCaller(route, matched, now), ({ subject }) => subject);
  }

  private stands({ subject: { principal }, generation, accessGeneration }: Look, now: number): boolean {
    const { changes } = this.options.database;
    changes.catchUp();
    if (changes.generation !== generation || changes.accessGeneration !== accessGeneration) return false;
    if (principal === null) return true;
    // Whose certificate it is stands in memory anyway.
    if (principal.kind === 'node') return false;
    return principal.credentialEndsAt === null || principal.credentialEndsAt > now;
  }

  private carryOut(turn: Turn): Awaitable<Answer> {
    const { route, look } = turn;
    if (route.method === 'GET') return route.handle(toInput(turn, look.subject, turn.now));
    const now = this.options.clock.now();
    return andThen(this.lookAgain(turn, now), (subject) => route.handle(toInput(turn, subject, now)));
  }

  private carryOutInTurn(turn: Turn): Awaitable<Answer> {
    return CONDITIONAL_METHODS.has(turn.route.method) ? this.carryOutAlone(turn) : this.carryOut(turn);
  }

  /** With no other write of the same resource in between, so that what If-Match was compared with still stands. */
  private async carryOutAlone(turn: Turn): Promise<Answer> {
    const { route, matched } = turn;
    const path = route.represents ?? route.path;
    const isConditional = matched.request.headers['if-match'] !== undefined;
    // What nobody can read has no validator that a write could be checked against.
    if (!isConditional && !this.gets.has(path)) return this.carryOut(turn);
    const resource = path.replace(/\{\*?(\w+)\}/g, (_, name: string) => matched.params[name] ?? '');
    // Before the lock, behind which others would add their waiting to this one's.
    await this.options.database.requireWritable();
    return this.options.locks.run(resourceLock(resource), async () => {
      if (isConditional) await this.requireCurrent(path, turn);
      return this.carryOut(turn);
    });
  }

  /** What follows once it is known that the caller may use the route. */
  private admit(route: Route, matched: MatchedRequest, subject: AnySubject, now: number): void {
    const { principal } = subject;
    if (principal?.kind === 'node') {
      this.options.onNodeSeen(principal.node.nodeId, now);
      this.nodeConnections.admit(principal.node.nodeId, matched);
    }
    route.admit?.(subject, now, Number(matched.request.headers['content-length'] ?? 0));
    refuseUnacceptable(route, matched);
  }

  private identify(
    route: Route,
    { request, params, state: { requestId } }: MatchedRequest,
    now: number,
  ): Awaitable<Principal | null> {
    if (route.body?.kind === 'form') refuseCrossSite(request);
    if (route.access.kind === 'metrics') {
      requireMetricsToken(request, this.options.metricsTokenHash);
      return null;
    }
    if (route.access.kind !== 'public') {
      const takesBasic = route.caller === 'git';
      const nodeId = params['nodeId'] ?? '';
      return authenticate(this.identifier, request, { requestId, now, nodeId, takesBasic });
    }
    refuseCrossSiteSession(request);
    return route.access.knowsSession ? sessionHolder(this.identifier, request, now) : null;
  }

  /**
   * The current validator is that of the GET which the route represents, asked in the caller's own name.
   * @throws HawserError precondition_failed
   */
  private async requireCurrent(path: string, turn: Turn): Promise<void> {
    const ifMatch = turn.matched.request.headers['if-match'] ?? '';
    // What has no GET has no validator to know, and whether it is there the handler finds out.
    if (namesAny(ifMatch) && !this.gets.has(path)) return;
    const { principal } = await this.lookAgain(turn, this.options.clock.now());
    requireMatch(ifMatch, await this.current(path, turn, principal));
  }

  private async current(path: string, turn: Turn, principal: Principal | null): Promise<Current> {
    const route = this.gets.get(path);
    if (route === undefined) return null;
    const matched = { ...turn.matched, query: {} };
    try {
      const subject = await authorize(this.options.database, route.access, principal, matched.params);
      const asked = readAddress(route, matched);
      const input = toInput({ matched, asked, read: NO_BODY }, subject, this.options.clock.now());
      return { etag: etagOf(await route.handle(input)) };
    } catch (error) {
      // Who may not read it knows no validator of it, so none that is sent can be the current one.
      if (error instanceof HawserError && ['not_found', 'forbidden'].includes(error.kind)) return null;
      throw error;
    }
  }
}

/** Who calls, and what rights were like when that was found. */
interface Look {
  subject: AnySubject;
  generation: number;
  accessGeneration: number;
}

/** A request whose body is there. */
interface Turn {
  route: Route;
  matched: MatchedRequest;
  look: Look;
  asked: Asked;
  read: ReadBody;
  /** Epoch milliseconds at which all of it was there. */
  now: number;
}

/** What the path and the query say, as the route's schemas give it. */
interface Asked {
  params: unknown;
  query: unknown;
}

function readAddress(route: Route, { params, query }: MatchedRequest): Asked {
  return {
    params: route.params ? parsePath(route.params, params) : params,
    query: route.query ? validate(route.query, { ...query }, 'query') : undefined,
  };
}

function toInput(
  { matched, asked: { params, query }, read }: Pick<Turn, 'matched' | 'asked' | 'read'>,
  { principal, resource, node, content }: AnySubject,
  now: number,
): Parameters<Route['handle']>[0] {
  const { body, files, file } = read;
  // Named one by one: spreading makes an object that V8 keeps as a dictionary, some 5 µs on every poll.
  const facts = new Facts(matched, now);
  return { principal, resource, node, content, params, query, body, files, file, facts };
}

const CONDITIONAL_METHODS: ReadonlySet<Method> = new Set(['PUT', 'PATCH', 'DELETE']);

/** Before anything is changed: a caller who then got 406 would take the change for refused. */
function refuseUnacceptable(route: Route, { negotiator }: MatchedRequest): void {
  if (route.method === 'GET') return;
  const answersJson = Object.values(route.answers).some((answer) => answer.schema !== undefined);
  if (answersJson && !admits(negotiator, JSON_MEDIA_TYPE)) throw notAcceptable(JSON_MEDIA_TYPE);
}

/** A path parameter that breaks its schema names nothing. */
function parsePath(schema: ZodType, params: Record<string, string>): unknown {
  const result = schema.safeParse(params);
  if (!result.success) throw notFound('Nothing has this address');
  return result.data;
}
