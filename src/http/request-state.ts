/** What is known of a request while it is carried out. */

import type { Principal } from '../security/principal.ts';
import type { Route } from './route.ts';

/** Koa's `ctx.state`, as the outer middleware reads it for the log line once the request is done. */
export interface RequestState {
  requestId: string;
  principal?: Principal | null | undefined;
  logLevel?: 'info' | 'debug' | undefined;
  /** Set on the routes of git clients, which are told of refusals in another form. */
  caller?: 'git';
  /** Set once a route is found. */
  route?: Route | undefined;
  /** Set once an open call of a node is counted: ends it. */
  leave?: (() => void) | undefined;
  /** Set once an answer is sent as a stream: how many bytes have gone so far. */
  streamedBytes?: number;
}
