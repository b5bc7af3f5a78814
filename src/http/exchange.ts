/**
 * A request and its response as the HTTP room sees them: Koa's context is one, and the poll gets one of its own,
 * without Koa, whose machinery would be a fifth of what a poll costs.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { RequestState } from './request-state.ts';

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

export type Exchange = Pick<Context, Shared> & { state: RequestState };

/** Of a GET whose path needs no decoding and whose caller takes any media type. */
export class PlainExchange implements Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly method = 'GET';
  readonly path: string;
  readonly querystring: string;
  readonly query = {};
  // With all that a poll sets: to add it later takes longer.
  readonly state: RequestState = {
    requestId: '',
    principal: undefined,
    logLevel: undefined,
    route: undefined,
    leave: undefined,
  };

  constructor(req: IncomingMessage, res: ServerResponse, path: string, querystring: string) {
    this.req = req;
    this.res = res;
    this.path = path;
    this.querystring = querystring;
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

/** Whether a request may go without Koa: nothing about it asks for more than its path. */
export function isPlain({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.accept === undefined || headers.accept === '*/*');
}
