/** Finds the route of a request: with @koa/router, and for plain polls without Koa. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Awaitable } from '../lib/awaitable.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import { type Exchange, isPlain, PlainExchange } from './exchange.ts';
import { respond } from './respond.ts';
import type { Route } from './route.ts';

const API = '/api/v1/';

/** Carries out a route for a request that has found it. */
export type Dispatch = (ctx: Exchange, route: Route) => Awaitable<void>;

/**
 * Only the most specific pattern answers a path, for all methods: if `/nodes/register` has no GET, `/nodes/{id}` does not
 * answer it. So each path is one entry of the router, which picks among paths, and the method is found here. The router's
 * `allowedMethods()` would join the methods of all patterns that fit.
 */
export function routerOf(routes: readonly Route[], dispatch: Dispatch): Middleware {
  const router = new Router({ sensitive: true, exclusive: 'specificity' });
  // Among patterns with the same number of parameters the router takes the first. A brace sorts behind every letter.
  for (const path of [...new Set(routes.map((route) => route.path))].sort()) {
    const ofPath = routes.filter((route) => route.path === path);
    const named = ofPath.find(({ besideNames }) => besideNames !== undefined)?.besideNames;
    const ofName = routes.filter((route) => route.path === named);
    const methods = new Map<string, Route>([...ofName, ...ofPath].map((route) => [route.method, route]));
    const get = methods.get('GET');
    if (get !== undefined) methods.set('HEAD', get);
    router.all(toPattern(path), (context) => {
      const ctx = context as unknown as Context & Exchange;
      const route = methods.get(ctx.method);
      if (route !== undefined && route.path === named) ctx.params = paramsIn(named, path);
      return route === undefined ? answerWithMethods(ctx, methods.keys()) : dispatch(ctx, route);
    });
  }
  return router.routes() as unknown as Middleware;
}

/** The parameters that a path has where it is taken for one of this pattern. */
function paramsIn(pattern: string, path: string): Record<string, string> {
  const segments = path.split('/');
  const named = pattern
    .split('/')
    .map((segment, at) => [/^\{(\w+)\}$/.exec(segment)?.[1], segments[at] ?? '']);
  return Object.fromEntries(named.filter(([name]) => name !== undefined));
}

/** The last middleware, which answers what no route has. */
export function answerUnrouted(routes: readonly Route[]): Middleware {
  const methods = new Set(['HEAD', ...routes.map((route) => route.method)]);
  return (ctx) => {
    // It asks about the server as a whole (RFC 9110 9.3.7).
    if (ctx.method !== 'OPTIONS' || ctx.path !== '*') throw notFound(noSuchAddress(ctx.path));
    answerWithMethods(ctx as Context & Exchange, methods);
  };
}

/** Clients add a path that begins with a slash to the server URL that they are given. */
function noSuchAddress(path: string): string {
  const nothing = 'Nothing has this address';
  if (path.startsWith('//')) return `${nothing}: the server URL of the client ends in a slash; remove it`;
  return path.startsWith(API) ? nothing : `${nothing}; the paths of the API begin with ${API}`;
}

/** @throws HawserError method_not_allowed where the caller does not ask for them (RFC 9110 15.5.6) */
function answerWithMethods(ctx: Exchange, methods: Iterable<string>): void {
  const allow = [...methods, 'OPTIONS'].sort().join(', ');
  if (ctx.method !== 'OPTIONS') {
    const message = `This path answers to ${allow}`;
    throw new HawserError('method_not_allowed', 'method_not_allowed', message, { allow });
  }
  respond(ctx, { status: 204, headers: { Allow: allow }, body: null });
}

/** `{nodeId}` becomes `:nodeId`, `{*filePath}` becomes `*filePath` (path-to-regexp 8). */
function toPattern(path: string): string {
  return path.replace(/\{(\*?)(\w+)\}/g, (_, star: string, name: string) => (star ? `*${name}` : `:${name}`));
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Finds these routes without Koa and its router, which cost more than the rest of a poll. The rest is the same code. Only
 * plain GETs take this way. A request with an escaped path, an Accept header or another method goes to `otherwise`.
 */
export function pollShortCut(
  routes: readonly Route[],
  dispatch: (ctx: Exchange, route: Route) => void,
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
      const querystring = mark === -1 ? '' : url.slice(mark + 1);
      const params = { [name]: value };
      return dispatch(new PlainExchange(request, response, { path, querystring, params }), route);
    }
    otherwise(request, response);
  };
}

/** @param path with one parameter; to capture it by its name would cost more than to find it */
function toRegExp(path: string): { pattern: RegExp; name: string } {
  const [before, name = '', after] = path.split(/\{(\w+)\}/);
  return { pattern: new RegExp(`^${before}([^/%]+)${after}/?$`), name };
}
