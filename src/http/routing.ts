/** Mounts routes on Koa: path templates to patterns, HEAD and OPTIONS, 405 with Allow, 404 for the rest. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import type Koa from 'koa';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { notFound } from '../lib/errors.ts';
import type { Answer } from './answer.ts';
import { type Exchange, isPlain, PlainExchange } from './exchange.ts';
import { methodNotAllowed } from './problem.ts';
import type { RequestScope } from './request-scope.ts';
import type { RequestState } from './request-state.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';
import type { RouteServer } from './serve.ts';
import { sessionCookie } from './session-cookie.ts';

/** Mounts groups of routes on Koa, to be tried in this order. */
export function mountRoutes(app: Koa, server: RouteServer, groups: readonly (readonly Route[])[]): void {
  const routers = groups.map((routes) => {
    const router = new Router({ sensitive: true });
    for (const route of [...routes].sort(bySpecificity)) {
      const pattern = toPattern(route.path);
      router.register(pattern, [route.method], (ctx, next) => {
        if (closestTo(ctx.matched ?? []).every((layer) => layer.path !== pattern)) return next();
        return handle(ctx as unknown as Exchange, server, route, ctx.params);
      });
    }
    return router;
  });
  for (const router of routers) app.use(router.routes() as unknown as Koa.Middleware);
  app.use((ctx) => answerUnmatched(ctx, routers));
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Finds these routes without Koa and without the router, which cost more than to find and answer the poll; access,
 * validation, errors, log and answer are the same code. Only plain GETs: an escaped path, an Accept header and
 * every other method are left to `otherwise`.
 */
export function routeDirectly(
  server: RouteServer,
  scope: RequestScope,
  routes: readonly Route[],
  otherwise: RequestHandler,
): RequestHandler {
  const gets = routes
    .filter(({ method }) => method === 'GET')
    .map((route) => ({ route, ...toRegExp(route.path) }));
  return (request, response) => {
    if (!isPlain(request)) return otherwise(request, response);
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    for (const { route, pattern, name } of gets) {
      const value = pattern.exec(path)?.[1];
      if (value === undefined) continue;
      const exchange = new PlainExchange(request, response, path, mark === -1 ? '' : url.slice(mark + 1));
      void scope(exchange, () => handle(exchange, server, route, { [name]: value }));
      return;
    }
    otherwise(request, response);
  };
}

function handle(
  ctx: Exchange,
  server: RouteServer,
  route: Route,
  params: Record<string, string>,
): Awaitable<void> {
  const { state } = ctx;
  state.route = route;
  state.logLevel = route.logLevel ?? (route.method === 'GET' ? 'debug' : 'info');
  if (route.caller) state.caller = route.caller;
  const answer = server.serve(route, {
    request: ctx.req,
    response: ctx.res,
    params,
    query: ctx.query,
    over: signalOfEnd(ctx),
    negotiator: ctx,
    ctx,
    state,
  });
  return andThen(answer, (ready) => {
    respond(ctx, withRenewedSession(ready, state));
    server.noteAnswered(state, ctx.res);
  });
}

function withRenewedSession(answer: Answer, { principal }: RequestState): Answer {
  if (principal?.kind !== 'user' || principal.renewedSession === null) return answer;
  const cookie = { 'Set-Cookie': sessionCookie(principal.renewedSession) };
  return { ...answer, headers: { ...cookie, ...answer.headers } };
}

/** Made only when asked for, which the poll never does, and only once. */
function signalOfEnd({ res }: Exchange): () => AbortSignal {
  let over: AbortController | undefined;
  return () => {
    if (over) return over.signal;
    const controller = new AbortController();
    over = controller;
    if (res.closed) controller.abort();
    else res.once('close', () => controller.abort());
    return controller.signal;
  };
}

function answerUnmatched(ctx: Exchange, routers: readonly Router[]): void {
  const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
  // The server as a whole (RFC 9110 9.3.7).
  const isServer = ctx.method === 'OPTIONS' && ctx.path === '*';
  const asked = isServer ? routers.flatMap((router) => router.stack) : closestTo(layers);
  const methods = new Set(asked.flatMap((layer) => layer.methods));
  if (methods.size === 0) throw notFound('Nothing has this address');
  const allow = [...methods, 'OPTIONS'].sort().join(', ');
  const options = { status: 204, headers: { Allow: allow }, body: null };
  respond(ctx, ctx.method === 'OPTIONS' ? options : methodNotAllowed(allow));
}

/** `{nodeId}` becomes `:nodeId`, `{*filePath}` becomes `*filePath` (path-to-regexp 8). */
function toPattern(path: string): string {
  return path.replace(/\{(\*?)(\w+)\}/g, (_, star: string, name: string) => (star ? `*${name}` : `:${name}`));
}

/** @param path with one parameter; to capture it by its name would cost more than to find it */
function toRegExp(path: string): { pattern: RegExp; name: string } {
  const [before, name = '', after] = path.split(/\{(\w+)\}/);
  return { pattern: new RegExp(`^${before}([^/%]+)${after}/?$`), name };
}

/** Fixed segments before parameters before the rest of a path, so that no `{id}` hides a named neighbour. */
function bySpecificity(a: Route, b: Route): number {
  return rank(toPattern(a.path)).localeCompare(rank(toPattern(b.path)));
}

/** A path is of the most specific pattern alone: what a named neighbour does not do, no `{id}` does in its place. */
function closestTo<L extends { path: string | RegExp }>(layers: readonly L[]): readonly L[] {
  if (layers.length < 2) return layers;
  const ranks = layers.map((layer) => rank(String(layer.path)));
  const closest = [...ranks].sort()[0];
  return layers.filter((_, index) => ranks[index] === closest);
}

/** @param pattern as `toPattern` makes it */
function rank(pattern: string): string {
  const rankOf = (segment: string) => (segment.startsWith('*') ? '2' : segment.startsWith(':') ? '1' : '0');
  return pattern.split('/').map(rankOf).join('');
}
