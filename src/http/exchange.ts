/** A request and its response as the HTTP room sees them, with what is known of them while they are carried out. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { type Actor, actorOf } from '../security/audit.ts';
import type { Principal } from '../security/principal.ts';
import { clientOf, wouldChain } from './connections.ts';
import type { RequestFacts, Route } from './route.ts';

/** Koa's `ctx.state`. The outer middleware reads it for the log line once the request is done. */
export interface RequestState {
  requestId: string;
  /** Set as soon as it is known who calls, so that the log names callers who are refused too. */
  principal: Principal | null | undefined;
  logLevel: 'info' | 'debug' | undefined;
  /** Set once a route is found. */
  route: Route | undefined;
  /** Set once an open call of a node is counted. Calling it ends the call. */
  leave: (() => void) | undefined;
  /** Set once somebody asks for the end of the exchange. */
  over?: AbortController;
  /** Set once an answer is sent as a stream: how many bytes have gone so far. */
  streamedBytes?: number;
}

type Shared =
  | 'req'
  | 'res'
  | 'method'
  | 'path'
  | 'headers'
  | 'query'
  | 'querystring'
  | 'writable'
  | 'accepts';

/** Koa's context is one. The poll gets one without Koa, whose machinery would be a fifth of what a poll costs. */
export type Exchange = Pick<Context, Shared> & { params: Record<string, string>; state: RequestState };

/** The exchange of a GET whose path needs no decoding and whose caller takes any media type. */
export class PlainExchange implements Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method = 'GET';
  readonly path: string;
  readonly querystring: string;
  readonly query = {};
  readonly params: Record<string, string>;
  readonly state = newState();

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    { path, querystring, params }: Pick<Exchange, 'path' | 'querystring' | 'params'>,
  ) {
    this.req = req;
    this.res = res;
    this.path = path;
    this.querystring = querystring;
    this.params = params;
  }

  get headers(): IncomingMessage['headers'] {
    return this.req.headers;
  }

  get writable(): boolean {
    return !this.res.writableEnded && (this.res.socket?.writable ?? true);
  }

  accepts(...types: unknown[]): never {
    throw new Error(`a plain exchange does not negotiate ${types.join(', ')}`);
  }
}

/** Makes a state with all that a poll sets, because to add members later takes longer. */
export function newState(): RequestState {
  return { requestId: '', principal: undefined, logLevel: undefined, route: undefined, leave: undefined };
}

/** Whether a request may go without Koa, because nothing about it asks for more than its path. */
export function isPlain({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept === undefined || headers.accept === '*/*');
}

/** A signal that is aborted when the exchange is over, however it ended. The poll never asks for it. */
export function endOf({ res, state }: Exchange): AbortSignal {
  if (state.over !== undefined) return state.over.signal;
  const over = new AbortController();
  state.over = over;
  if (res.closed) over.abort();
  else res.once('close', () => over.abort());
  return over.signal;
}

/** What handlers may ask about a request beside its parsed parts. Most of it is found only when they ask. */
export class Facts implements RequestFacts {
  readonly requestId: string;
  readonly now: number;
  private readonly ctx: Exchange;

  constructor(ctx: Exchange, now: number) {
    this.requestId = ctx.state.requestId;
    this.now = now;
    this.ctx = ctx;
  }

  get isHead(): boolean {
    return this.ctx.method === 'HEAD';
  }

  get actor(): Actor {
    return actorOf(this.ctx.state.principal ?? null, this);
  }

  get address(): string {
    return clientOf(this.ctx.req).address;
  }

  get certificate(): RequestFacts['certificate'] {
    const { peer, isTrusted } = clientOf(this.ctx.req);
    return peer && { ...peer.describe(), isTrusted };
  }

  wouldChain(chain: readonly X509Certificate[]): boolean {
    return wouldChain(this.ctx.req.socket, chain);
  }

  get over(): AbortSignal {
    return endOf(this.ctx);
  }

  header(name: string): string | undefined {
    return this.ctx.headers[name]?.toString();
  }
}
