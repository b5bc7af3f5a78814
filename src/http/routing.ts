/** Mounts routes on Koa: path templates to patterns, HEAD and OPTIONS, 405 with Allow, 404 for the rest. */

import Router from '@koa/router';
import type Koa from 'koa';
import type { Context } from 'koa';
import { notFound } from '../lib/errors.ts';
import type { Answer } from './answer.ts';
import { methodNotAllowed } from './problem.ts';
import type { RequestState } from './request-state.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';
import type { RouteServer } from './serve.ts';
import { sessionCookie } from './session-cookie.ts';

/**
 * Mounts groups of routes in order. The first group is looked through first, so the poll's few routes are
 * found without trying the patterns of all others.
 */
export function mountRoutes(app: Koa, server: RouteServer, groups: readonly (readonly Route[])[]): void {
  const routers = groups.map((routes) => {
    const router = new Router({ sensitive: true });
    for (const route of [...routes].sort(bySpecificity)) {
      router.register(toPattern(route.path), [route.method], (ctx) =>
        handle(ctx as unknown as Context, server, route, ctx.params),
      );
    }
    return router;
  });
  app.use(matchDirectly(server, groups[0] ?? []));
  for (const router of routers) app.use(router.routes() as unknown as Koa.Middleware);
  app.use((ctx) => answerUnmatched(ctx, routers));
}

/**
 * The same routes without the router, which costs more than finding and answering the poll. Only plain GETs: an
 * escaped path, and every other method, is left to the router.
 */
function matchDirectly(server: RouteServer, routes: readonly Route[]): Koa.Middleware {
  const gets = routes
    .filter(({ method }) => method === 'GET')
    .map((route) => ({ route, pattern: toRegExp(route.path) }));
  return (ctx, next) => {
    if (ctx.method !== 'GET') return next();
    for (const { route, pattern } of gets) {
      const match = pattern.exec(ctx.path);
      if (match?.groups) return handle(ctx, server, route, match.groups);
    }
    return next();
  };
}

async function handle(
  ctx: Context,
  server: RouteServer,
  route: Route,
  params: Record<string, string>,
): Promise<void> {
  const state = ctx.state as RequestState;
  state.logLevel = route.logLevel ?? (route.method === 'GET' ? 'debug' : 'info');
  const answer = await server.serve(route, {
    request: ctx.req,
    params,
    query: ctx.query,
    negotiator: ctx,
    state,
  });
  respond(ctx, withRenewedSession(answer, state));
}

function withRenewedSession(answer: Answer, { principal }: RequestState): Answer {
  if (principal?.kind !== 'user' || principal.renewedSession === null) return answer;
  const cookie = { 'Set-Cookie': sessionCookie(principal.renewedSession) };
  return { ...answer, headers: { ...cookie, ...answer.headers } };
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

function toRegExp(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/%]+)')}/?$`);
}

/** Fixed segments before parameters before the rest of a path, so that no `{id}` hides a named neighbour. */
function bySpecificity(a: Route, b: Route): number {
  return rank(a.path).localeCompare(rank(b.path));
}

function rank(path: string): string {
  const rankOf = (segment: string) => (segment.startsWith('{*') ? '2' : segment.startsWith('{') ? '1' : '0');
  return path.split('/').map(rankOf).join('');
}
