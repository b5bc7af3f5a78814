/** Carries out one route for one request: who, what, then the handler, then the answer's conditions. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Database } from '../db/open.ts';
import { resourceLock } from '../domain/lock-names.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { Clock } from '../lib/clock.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import type { AnySubject } from '../security/access.ts';
import { type Actor, actorOf } from '../security/audit.ts';
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
import { decodeJson, hasBody, parseJson, readDocument, readForm, readJsonBytes } from './body.ts';
import { type Current, etagOf, namesAny, requireMatch } from './conditional.ts';
import { clientOf, wouldChain } from './connections.ts';
import { NodeCalls } from './node-calls.ts';
import type { RequestState } from './request-state.ts';
import { admits, type Negotiator, notAcceptable } from './respond.ts';
import type { Method, RequestFacts, Route } from './route.ts';
import { openBody } from './stream-body.ts';
import { readUpload, type Upload } from './uploads.ts';
import { validate } from './validation.ts';

export interface RequestLimits {
  jsonBytes: number;
  reportBytes: number;
  uploadBytes: number;
  uploadFiles: number;
}

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

/** A request that has found its route. */
export interface MatchedRequest {
  request: IncomingMessage;
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  /** Aborted when the exchange is over, however it ended. */
  over(): AbortSignal;
  /** What the Accept header is judged by. */
  negotiator: Negotiator;
  /** Takes down who calls as soon as that is known, so that the log names them even when they are refused. */
  state: RequestState;
}

export class RouteServer {
  private readonly options: ServeOptions;
  private readonly identifier: Identifier;
  private readonly nodeCalls: NodeCalls;
  private readonly gets = new Map<string, Route>();

  constructor(options: ServeOptions, routes: readonly Route[]) {
    this.options = options;
    this.identifier = new Identifier(options.database);
    this.nodeCalls = new NodeCalls(options.nodeCallsAtOnce);
    for (const route of routes) if (route.method === 'GET') this.gets.set(route.path, route);
  }

  /**
   * @throws HawserError whatever the access check, the validation or the handler finds; unavailable `overloaded` for
   *   nodes alone, so that administrators can still come in and see to it
   */
  serve(route: Route, matched: MatchedRequest): Awaitable<Answer> {
    const carryOut = () => this.carryOut(route, matched);
    return route.access.kind.startsWith('node:') ? this.nodeCalls.run(carryOut) : carryOut();
  }

  /** Each step is carried out at once where the one before need not wait, and for a poll none need. */
  private carryOut(route: Route, matched: MatchedRequest): Awaitable<Answer> {
    const { database, clock } = this.options;
    const now = clock.now();
    // Before anything is answered from memory: another process of this server may have written.
    database.changes.catchUp();
    return andThen(this.identify(route, matched, now), (principal) => {
      matched.state.principal = principal;
      return andThen(authorize(database, route.access, principal, matched.params), (subject) => {
        this.admit(route, matched, subject, now);
        return andThen(this.readInput(route, matched, subject, now), (input) =>
          CONDITIONAL_METHODS.has(route.method)
            ? this.writeInTurn(route, matched, principal, () => route.handle(input))
            : route.handle(input),
        );
      });
    });
  }

  /** What follows once it is known that the caller may use the route. */
  private admit(route: Route, matched: MatchedRequest, subject: AnySubject, now: number): void {
    const { principal } = subject;
    if (principal?.kind === 'node') this.options.onNodeSeen(principal.node.nodeId, now);
    route.admit?.(subject, now, Number(matched.request.headers['content-length'] ?? 0));
    refuseUnacceptable(route, matched);
  }

  private identify(
    route: Route,
    { request, state: { requestId } }: MatchedRequest,
    now: number,
  ): Awaitable<Principal | null> {
    if (route.body?.kind === 'form') refuseCrossSite(request);
    if (route.access.kind === 'metrics') {
      requireMetricsToken(request, this.options.metricsTokenHash);
      return null;
    }
    if (route.access.kind !== 'public') {
      return authenticate(this.identifier, request, { requestId, now, takesBasic: route.caller === 'git' });
    }
    refuseCrossSiteSession(request);
    return route.access.knowsSession ? sessionHolder(this.identifier, request, now) : null;
  }

  private readInput(
    route: Route,
    matched: MatchedRequest,
    { principal, resource, node }: AnySubject,
    now: number,
  ): Awaitable<Parameters<Route['handle']>[0]> {
    const params = route.params ? parsePath(route, matched.params) : matched.params;
    const query = route.query ? validate(route.query, { ...matched.query }, 'query') : undefined;
    const facts = new Facts(matched, now);
    const read = route.body ? this.readBody(route, matched) : NO_BODY;
    // Named one by one: spreading makes an object that V8 keeps as a dictionary, some 5 µs on every poll.
    return andThen(read, ({ body, files, file }) => {
      return { principal, resource, node, params, query, body, files, file, facts };
    });
  }

  /**
   * Checks If-Match and writes with no other write of the same resource in between, conditional or not. The current
   * validator is that of the GET which the route represents, asked in the caller's own name.
   */
  private writeInTurn(
    route: Route,
    matched: MatchedRequest,
    principal: Principal | null,
    write: () => Awaitable<Answer>,
  ): Promise<Answer> {
    const path = route.represents ?? route.path;
    const resource = path.replace(/\{\*?(\w+)\}/g, (_, name: string) => matched.params[name] ?? '');
    const ifMatch = matched.request.headers['if-match'];
    // What nobody can read has no validator that a write could be checked against.
    if (ifMatch === undefined && !this.gets.has(path)) return Promise.resolve(write());
    return this.options.locks.run(resourceLock(resource), async () => {
      // What has no GET has no validator to know, and whether it is there the handler finds out.
      const isAny = ifMatch !== undefined && namesAny(ifMatch) && !this.gets.has(path);
      if (ifMatch !== undefined && !isAny)
        requireMatch(ifMatch, await this.current(path, matched, principal));
      return write();
    });
  }

  private async current(
    path: string,
    matched: MatchedRequest,
    principal: Principal | null,
  ): Promise<Current> {
    const get = this.gets.get(path);
    if (get === undefined) return null;
    try {
      const subject = await authorize(this.options.database, get.access, principal, matched.params);
      const input = await this.readInput(get, { ...matched, query: {} }, subject, this.options.clock.now());
      return { etag: etagOf(await get.handle(input)) };
    } catch (error) {
      // Who may not read it knows no validator of it, so none that is sent can be the current one.
      if (error instanceof HawserError && ['not_found', 'forbidden'].includes(error.kind)) return null;
      throw error;
    }
  }

  private async readBody(route: Route, { request, over }: MatchedRequest): Promise<ReadBody> {
    const { limits } = this.options;
    const spec = route.body;
    if (spec === undefined) return NO_BODY;
    if (spec.kind === 'json') {
      if (spec.isOptional && !hasBody(request))
        return { ...NO_BODY, body: validate(spec.schema, {}, 'body') };
      const text = decodeJson(await readJsonBytes(request, limits.jsonBytes));
      return { ...NO_BODY, body: validate(spec.schema, parseJson(text), 'body') };
    }
    if (spec.kind === 'jsonBytes') {
      const bytes = await readJsonBytes(request, limits[spec.limit]);
      return { ...NO_BODY, body: validate(spec.schema, bytes, 'body') };
    }
    if (spec.kind === 'stream') {
      const stream = openBody(request, { ...spec, over: over() });
      return { ...NO_BODY, body: validate(spec.schema, stream, 'body') };
    }
    if (spec.kind === 'document') {
      const document = await readDocument(request, spec.mediaTypes, limits.jsonBytes);
      return { ...NO_BODY, body: validate(spec.schema, document, 'body') };
    }
    if (spec.kind === 'form')
      return { ...NO_BODY, body: validate(spec.schema, await readForm(request), 'form') };
    const bytes = Math.min(limits.uploadBytes, spec.file?.bytes ?? limits.uploadBytes);
    const { fields, files, file } = await readUpload(
      request,
      { bytes, files: spec.file ? 1 : limits.uploadFiles },
      { fields: spec.fields, file: spec.file?.name },
    );
    return { ...NO_BODY, body: validate(spec.schema, Object.fromEntries(fields), 'form'), files, file };
  }
}

type ReadBody = { body: unknown } & Pick<Upload, 'files' | 'file'>;

const NO_BODY: ReadBody = { body: undefined, files: [], file: null };
const CONDITIONAL_METHODS: ReadonlySet<Method> = new Set(['PUT', 'PATCH', 'DELETE']);

/** Before anything is changed: a caller who then got 406 would take the change for refused. */
function refuseUnacceptable(route: Route, { negotiator }: MatchedRequest): void {
  if (route.method === 'GET') return;
  const answersJson = Object.values(route.answers).some((answer) => answer.schema !== undefined);
  if (answersJson && !admits(negotiator, JSON_MEDIA_TYPE)) throw notAcceptable(JSON_MEDIA_TYPE);
}

/** A path parameter that breaks its schema names nothing. */
function parsePath(route: Route, params: Record<string, string>): unknown {
  const result = route.params?.safeParse(params);
  if (result && !result.success) throw notFound('Nothing has this address');
  return result?.data;
}

/** What few handlers ask for is found only when they do. */
class Facts implements RequestFacts {
  readonly requestId: string;
  readonly now: number;
  private readonly matched: MatchedRequest;

  constructor(matched: MatchedRequest, now: number) {
    this.requestId = matched.state.requestId;
    this.now = now;
    this.matched = matched;
  }

  get actor(): Actor {
    const { principal = null } = this.matched.state;
    return actorOf(principal, this);
  }

  get address(): string {
    return clientOf(this.matched.request).address;
  }

  get certificate(): RequestFacts['certificate'] {
    const { peer, isTrusted } = clientOf(this.matched.request);
    return peer && { ...peer.describe(), isTrusted };
  }

  wouldChain(chain: readonly X509Certificate[]): boolean {
    return wouldChain(this.matched.request.socket, chain);
  }

  get over(): AbortSignal {
    return this.matched.over();
  }

  header(name: string): string | undefined {
    return this.matched.request.headers[name]?.toString();
  }
}
