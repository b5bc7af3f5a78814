/** All routes by which people and programs of other identity providers get in. */

import type { Config } from '../../config.ts';
import type { Route } from '../../http/route.ts';
import { JobTokens } from '../../security/openid/job-tokens.ts';
import type { AuthOptions } from '../auth/routes.ts';
import { federationRoutes } from './federations.ts';
import { identityRoutes } from './identities.ts';
import { signInRoutes } from './routes.ts';
import { tokenExchangeRoute } from './token-exchange.ts';

export function allSignInRoutes(
  auth: AuthOptions,
  { federationIssuers: issuers, publicUrl: audience, environment }: Config,
): Route[] {
  const { database, log } = auth;
  const isDevelopment = environment === 'development';
  const jobTokens = audience === null ? null : new JobTokens({ issuers, audience, isDevelopment });
  return [
    ...signInRoutes(auth),
    ...identityRoutes(database),
    ...federationRoutes(database, issuers),
    tokenExchangeRoute({ database, log, jobTokens }),
  ];
}
