/** A request and its response as the HTTP room sees them, with what is known of them while they are carried out. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestParts } from '../lib/request-parts.ts';
import type { FactSource } from './facts.ts';
import type { Route } from './route.ts';

/**
 * Koa's `ctx.state`. The outer middleware reads it for the log line once the request is done.
 * `principal` is set as soon as it is known who calls, so that the log names callers who are refused too.
 */
export type RequestState = FactSource['state'] & {
  logLevel: 'info' | 'debug' | undefined;
  /** Set once a route is found. */
  route: Route | undefined;
  /** Set once an open call of a node is counted. Calling it ends the call. */
  leave: (() => void) | undefined;
  /** Set if the path names a node by its fqdn: the same path with the node's id. */
  pathById?: string;
  /** Set once an answer is sent as a stream: how many bytes have gone so far. */
  streamedBytes?: number;
  /** Set where the parts of a request's time are measured. */
  parts?: RequestParts;
  /** Set once a body is there: how long it took, in milliseconds. */
  bodyMs?: number;
};

type Shared = 'req' | 'res' | 'method' | 'path' | 'headers' | 'querystring' | 'writable' | 'accepts';

/** Koa's context is one. The poll gets one without Koa, whose machinery would be a fifth of what a poll costs. */
export type Exchange = Pick<Context, Shared> & { params: Record<string, string>; state: RequestState };

/** The exchange of a GET whose path needs no decoding and whose caller takes any media type. */
export class PlainExchange implements Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method = 'GET';
  readonly path: string;
  readonly querystring: string;
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
  return {
    requestId: '',
    at: 0,
    principal: undefined,
    logLevel: undefined,
    route: undefined,
    leave: undefined,
  };
}

/** Whether a request may go without Koa, because nothing about it asks for more than its path. */
export function isPlain({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept === undefined || headers.accept === '*/*');
}
