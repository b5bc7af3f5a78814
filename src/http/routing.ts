/** Mounts routes on Koa: path templates to patterns, HEAD and OPTIONS, 405 with Allow, 404 for the rest. */

import Router from '@koa/router';
import type Koa from 'koa';
import type { Context } from 'koa';
import { notFound } from '../lib/errors.ts';
import type { Principal } from '../security/principal.ts';
import { methodNotAllowed } from './problem.ts';
import { admits, respond } from './respond.ts';
import type { Route } from './route.ts';
import type { RouteServer } from './serve.ts';
import { sessionCookie } from './session-cookie.ts';

/** What the outer middleware reads for the log line once the request is done. */
export interface RequestState {
  requestId: string;
  principal?: Principal | null;
  logLevel?: 'info' | 'debug';
}

/**
 * Mounts groups of routes in order. The first group is looked through first, so the poll's few routes are
 * found without trying the patterns of all others.
 */
export function mountRoutes(app: Koa, server: RouteServer, groups: readonly (readonly Route[])[]): void {
  const routers = groups.map((routes) => {
    const router = new Router({ sensitive: true });
    for (const route of [...routes].sort(bySpecificity)) {
      router.register(toPattern(route.path), [route.method], (ctx) =>
        handle(ctx as unknown as Context, server, route),
      );
    }
    return router;
  });
  for (const router of routers) app.use(router.routes() as unknown as Koa.Middleware);
  app.use((ctx) => answerUnmatched(ctx, routers));
}

async function handle(ctx: Context, server: RouteServer, route: Route): Promise<void> {
  const state = ctx.state as RequestState;
  state.logLevel = route.logLevel ?? (route.method === 'GET' ? 'debug' : 'info');
  const params = (ctx as unknown as { params: Record<string, string> }).params;
  const { requestId } = state;
  const { answer, principal } = await server.serve(route, {
    request: ctx.req,
    requestId,
    params,
    query: ctx.query,
    accepts: (type) => admits(ctx, type),
  });
  state.principal = principal;
  if (principal?.kind === 'user' && principal.renewedSession !== null && !answer.headers['Set-Cookie']) {
    ctx.set('Set-Cookie', sessionCookie(principal.renewedSession));
  }
  respond(ctx, answer);
}

function answerUnmatched(ctx: Context, routers: readonly Router[]): void {
  const methods = new Set(
    routers.flatMap((router) => router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods)),
  );
  if (methods.size === 0) throw notFound('Nothing has this address');
  const allow = [...methods, 'OPTIONS'].sort().join(', ');
  const options = { status: 204, headers: { Allow: allow }, body: null };
  respond(ctx, ctx.method === 'OPTIONS' ? options : methodNotAllowed(allow));
}

/** `{nodeId}` becomes `:nodeId`, `{*filePath}` becomes `*filePath` (path-to-regexp 8). */
function toPattern(path: string): string {
  return path.replace(/\{(\*?)(\w+)\}/g, (_, star: string, name: string) => (star ? `*${name}` : `:${name}`));
}

/** Fixed segments before parameters before the rest of a path, so that no `{id}` hides a named neighbour. */
function bySpecificity(a: Route, b: Route): number {
  return rank(a.path).localeCompare(rank(b.path));
}

function rank(path: string): string {
  const rankOf = (segment: string) => (segment.startsWith('{*') ? '2' : segment.startsWith('{') ? '1' : '0');
  return path.split('/').map(rankOf).join('');
}
