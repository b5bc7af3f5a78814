/** What handlers may ask about a request beside its parsed parts. */

import type { X509Certificate } from 'node:crypto';
import type { Context } from 'koa';
import type { Awaitable } from '../lib/awaitable.ts';
import { type Actor, actorOf } from '../security/audit.ts';
import type { CertificateDescription } from '../security/certificates.ts';
import type { Principal } from '../security/principal.ts';
import { notAcceptable, preferredOf } from './acceptable.ts';
import { clientOf, wouldChain } from './connections.ts';

/** The part of an exchange that this asks. */
export type FactSource = Pick<Context, 'req' | 'res' | 'method' | 'path' | 'headers' | 'accepts'> & {
  state: {
    requestId: string;
    /** When the call came, in epoch milliseconds. */
    at: number;
    principal: Principal | null | undefined;
    /** Set once somebody asks for the end of the exchange. */
    over?: AbortController;
    /** Set where the request has an `If-Match`. */
    requireCurrent?: () => Promise<void>;
    /** Set for changes, and for what waits. */
    reauthorize?: () => Awaitable<unknown>;
    /** Set for what changes what nodes get. */
    requireUnfrozen?: Actor['requireUnfrozen'];
  };
};

/** Most of it is found only when a handler asks. */
export class Facts {
  readonly requestId: string;
  /** When the call is carried out, which is when its body is there, in epoch milliseconds. */
  readonly now: number;
  private readonly ctx: FactSource;

  constructor(ctx: FactSource, now: number) {
    this.requestId = ctx.state.requestId;
    this.now = now;
    this.ctx = ctx;
  }

  /** Whether this is a HEAD, carried out as a GET that must change nothing. */
  get isHead(): boolean {
    return this.ctx.method === 'HEAD';
  }

  /** The path as it was sent. */
  get path(): string {
    return this.ctx.path;
  }

  /** The query as it was sent, with its question mark; empty where there is none. */
  get search(): string {
    const url = this.ctx.req.url ?? '';
    const at = url.indexOf('?');
    return at === -1 ? '' : url.slice(at);
  }

  /** The caller as the audit trail names them. */
  get actor(): Actor {
    const actor = actorOf(this.ctx.state.principal ?? null, this);
    const { requireUnfrozen } = this.ctx.state;
    return requireUnfrozen ? { ...actor, requireUnfrozen } : actor;
  }

  /** The client's address, for the log and the sign-in throttle. */
  get address(): string {
    return clientOf(this.ctx.req).address;
  }

  /** The client's certificate; `isTrusted` tells whether the configured node CA and CRL, if any, accept it. */
  get certificate(): (CertificateDescription & { isTrusted: boolean; der: () => Buffer }) | null {
    const { peer, distrust } = clientOf(this.ctx.req);
    return peer && { ...peer.describe(), isTrusted: distrust === null, der: () => peer.der() };
  }

  /** Whether a certificate that came in a body, with its issuers behind it, chains to the configured node CA. */
  wouldChain(chain: readonly X509Certificate[]): boolean {
    return wouldChain(this.ctx.req.socket, chain);
  }

  /** It is aborted when the answer has been sent in full, or the client has gone. */
  get over(): AbortSignal {
    return endOf(this.ctx);
  }

  /**
   * Compares `If-Match` once more, for whoever has waited for a lock since; undefined where the request has none. It
   * throws precondition_failed.
   */
  get requireCurrent(): (() => Promise<void>) | undefined {
    return this.ctx.state.requireCurrent;
  }

  /**
   * Looks once more whether the caller may do this, for whoever has read a body or waited for a lock since.
   * @throws HawserError as if the call came anew
   */
  async reauthorize(): Promise<void> {
    await this.ctx.state.reauthorize?.();
  }

  /**
   * The media type that the caller likes best, the first where it takes all alike.
   * @throws HawserError not_acceptable when the Accept header excludes all of them
   */
  preferred<const T extends string>(...types: readonly [T, ...T[]]): T {
    const type = preferredOf(this.ctx, types);
    if (type === null) throw notAcceptable(...types);
    return type;
  }

  /** Gives a header by its lower-case name. */
  header(name: string): string | undefined {
    return this.ctx.headers[name]?.toString();
  }
}

/** A signal that is aborted when the exchange is over, however it ended. The poll never asks for it. */
export function endOf({ res, state }: FactSource): AbortSignal {
  if (state.over !== undefined) return state.over.signal;
  const over = new AbortController();
  state.over = over;
  if (res.closed) over.abort();
  else res.once('close', () => over.abort());
  return over.signal;
}
