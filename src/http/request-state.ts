/** What is known of a request while it is carried out. */

import type { Principal } from '../security/principal.ts';

/** Koa's `ctx.state`, as the outer middleware reads it for the log line once the request is done. */
export interface RequestState {
  requestId: string;
  principal?: Principal | null;
  logLevel?: 'info' | 'debug';
}
