/** Finds out who calls, and whether that caller may use the route: when a call comes, and again before it changes anything. */

import type { Currency } from '../db/change-feed.ts';
import type { Database } from '../db/database.ts';
import type { NodeLookup } from '../db/node-lookup.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { AnySubject } from '../security/access.ts';
import { authorize } from '../security/authorize.ts';
import type { Identifier } from '../security/identify.ts';
import type { Principal, UserPrincipal } from '../security/principal.ts';
import {
  authenticate,
  refuseCrossSite,
  refuseCrossSiteSession,
  requireMetricsToken,
  sessionHolder,
} from './authenticate.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';

/** The result of an access check, and the states of the rights on which it rests. */
export interface Authorization {
  subject: AnySubject;
  generation: number;
  accessGeneration: number;
}

/** A call that was authorized when it came. */
interface AuthorizedCall {
  ctx: Exchange;
  route: Route;
  authorization: Authorization;
}

export class CallerCheck {
  private readonly database: Database;
  private readonly metricsTokenHash: string | null;
  private readonly identifier: Identifier;

  /** @param metricsTokenHash SHA-256 of the token that opens the metrics, in hexadecimal; null where none is configured */
  constructor(database: Database, identifier: Identifier, metricsTokenHash: string | null) {
    this.database = database;
    this.metricsTokenHash = metricsTokenHash;
    this.identifier = identifier;
  }

  /** For a poll all of this is in memory. */
  authorize(ctx: Exchange, route: Route, now: number): Awaitable<Authorization> {
    // Neither who may use an open route nor what it answers rests on what the feed tells, so these go on without it.
    if (route.access.kind === 'public' || route.access.kind === 'metrics')
      return this.authorizeNow(ctx, route, now);
    // This comes before any answer from memory, because another process may have written.
    const caughtUp = this.database.changes.catchUp(currencyFor(ctx));
    return caughtUp instanceof Promise
      ? this.authorizeAfter(caughtUp, ctx, route, now)
      : this.authorizeNow(ctx, route, now);
  }

  /**
   * Checks access again before a change is made, because a body may come long after its head, and a lock may be waited
   * for. The first authorization is still valid if nothing has changed that rights depend on.
   */
  reauthorize({ ctx, route, authorization }: AuthorizedCall, now: number): Awaitable<AnySubject> {
    const { subject } = authorization;
    // Open routes ask for no rights, which could have gone meanwhile.
    if (subject.principal === null) return subject;
    return andThen(this.database.changes.catchUp('now'), () =>
      this.stillHolds(authorization, now)
        ? subject
        : andThen(this.authorizeNow(ctx, route, now), (again) => again.subject),
    );
  }

  private async authorizeAfter(
    caughtUp: Promise<void>,
    ctx: Exchange,
    route: Route,
    now: number,
  ): Promise<Authorization> {
    await caughtUp;
    return this.authorizeNow(ctx, route, now);
  }

  private authorizeNow(ctx: Exchange, route: Route, now: number): Awaitable<Authorization> {
    const { generation, accessGeneration } = this.database.changes;
    return andThen(this.identify(ctx, route, now), (principal) => {
      ctx.state.principal = principal;
      return andThen(this.subjectOf(ctx, route, principal), (subject) => ({
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
      requireMetricsToken(request, this.metricsTokenHash);
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

  private subjectOf(ctx: Exchange, route: Route, principal: Principal | null): Awaitable<AnySubject> {
    if (principal?.kind === 'user') return this.subjectOfUser(ctx, route, principal);
    return authorize(this.database, route.access, principal, ctx.params);
  }

  private async subjectOfUser(ctx: Exchange, route: Route, principal: UserPrincipal): Promise<AnySubject> {
    const isNodeKnown = await putNodeId(ctx, route, this.database.nodeLookup);
    const subject = await authorize(this.database, route.access, principal, ctx.params);
    // This comes last, because only whoever may use the route may learn which nodes there are.
    if (!isNodeKnown) throw notFound('No such node');
    return subject;
  }

  private stillHolds({ subject, generation, accessGeneration }: Authorization, now: number): boolean {
    const { changes } = this.database;
    const { principal } = subject;
    if (changes.generation !== generation || changes.accessGeneration !== accessGeneration) return false;
    // The owner of a certificate is looked up in memory, which is cheap.
    if (principal?.kind !== 'user') return false;
    return principal.credentialEndsAt === null || principal.credentialEndsAt > now;
  }
}

/**
 * Calls without these two headers are those of nodes. They may rest on what held a second ago, because a change is
 * authorized once more before it is made.
 */
function currencyFor({ headers }: Exchange): Currency {
  return headers.authorization === undefined && headers.cookie === undefined ? 'recent' : 'now';
}

/**
 * Puts the id of the node in place of its fqdn, if the path of a user's request names a node. Behind it all code sees the id
 * alone.
 * @returns false if the path has neither an id, of a known node or not, nor the fqdn of a node
 */
function putNodeId(ctx: Exchange, route: Route, nodes: NodeLookup): Awaitable<boolean> {
  const text = ctx.params['nodeId'];
  if (text === undefined) return true;
  return andThen(nodes.findId(text), (id) => {
    // The handler finds out what an unknown id means.
    if (id === null) return isId(text);
    if (id !== text) putId(ctx, route, id);
    return true;
  });
}

function putId(ctx: Exchange, route: Route, id: string): void {
  ctx.params['nodeId'] = id;
  const place = route.path.split('/').indexOf('{nodeId}');
  ctx.state.pathById = ctx.path.split('/').with(place, id).join('/');
}
