/** The HTTP application: the order of middleware, and which routes are mounted. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { authRoutes } from './api/auth/routes.ts';
import { tokenRoutes } from './api/auth/token-routes.ts';
import { configurationRoutes } from './api/configurations/routes.ts';
import { healthRoutes } from './api/health/routes.ts';
import { nodeRoutes } from './api/nodes/routes.ts';
import { registrationKeyRoutes } from './api/registration-keys/routes.ts';
import { translateDatabaseError } from './db/errors.ts';
import type { Database } from './db/open.ts';
import type { GitStore } from './git/store.ts';
import { requestScope } from './http/request-scope.ts';
import type { Route } from './http/route.ts';
import { mountRoutes } from './http/routing.ts';
import { type RequestLimits, RouteServer } from './http/serve.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import { BundleCache } from './pull/bundle-cache.ts';
import { pullRoutes } from './pull/routes.ts';
import { Resolver } from './resolve/resolver.ts';
import type { KeyedCertificate } from './security/certificate-authority.ts';

export interface AppOptions {
  database: Database;
  store: GitStore;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
  dataDir: string;
  limits: RequestLimits;
  bundleCacheBytes: number;
  clock: Clock;
  log: Log;
  onNodeSeen(nodeId: string, now: number): void;
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** All routes, the poll's apart because they are looked through first. */
export function allRoutes(options: AppOptions): { pull: Route[]; api: Route[] } {
  const { database, store, log, dataDir } = options;
  const resolver = new Resolver(database, store);
  return {
    pull: pullRoutes(resolver, new BundleCache(resolver, options.bundleCacheBytes)),
    api: [
      ...healthRoutes(database, store, log),
      ...authRoutes({ database, dataDir, log }),
      ...tokenRoutes(database),
      ...registrationKeyRoutes(database),
      ...nodeRoutes({ ...options, resolver }),
      ...configurationRoutes(database, store),
    ],
  };
}

export function createApp(options: AppOptions): RequestHandler {
  const app = new Koa();
  const { pull, api } = allRoutes(options);
  app.use(requestScope(options.log, translateDatabaseError));
  mountRoutes(app, new RouteServer(options, [...pull, ...api]), [pull, api]);
  app.on('error', (error) => options.log.debug({ err: error }, 'a response could not be sent'));
  const handle = app.callback();
  return (request, response) => void handle(request, response);
}
