/** A request that has found its route, and what handlers may ask about it beside its parsed parts. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Actor, actorOf } from '../security/audit.ts';
import { clientOf, wouldChain } from './connections.ts';
import type { Exchange } from './exchange.ts';
import type { RequestState } from './request-state.ts';
import type { Negotiator } from './respond.ts';
import type { RequestFacts } from './route.ts';

export interface MatchedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  /** Aborted when the exchange is over, however it ended. */
  over(): AbortSignal;
  /** What the Accept header is judged by. */
  negotiator: Negotiator;
  ctx: Exchange;
  /** Takes down who calls as soon as that is known, so that the log names them even when they are refused. */
  state: RequestState;
}

/** What few handlers ask for is found only when they do. */
export class Facts implements RequestFacts {
  readonly requestId: string;
  readonly now: number;
  private readonly matched: MatchedRequest;

  constructor(matched: MatchedRequest, now: number) {
    this.requestId = matched.state.requestId;
    this.now = now;
    this.matched = matched;
  }

  get isHead(): boolean {
    return this.matched.request.method === 'HEAD';
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
