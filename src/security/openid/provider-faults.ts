/**
 * What is told of a sign-in that fails at the provider. Nothing of what the provider has said is repeated: it may be
 * anything, and a page of ours would seem to say it. The cause is for the log.
 */

import { HawserError } from '../../lib/errors.ts';
import { ProviderAway } from './bounded-fetch.ts';

/** Codes of openid-client for a provider that does not speak as one. */
const NONSENSE = new Set([
  ...['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_TIMEOUT'],
  ...['OAUTH_MISSING_SERVER_METADATA', 'OAUTH_INVALID_SERVER_METADATA', 'OAUTH_REQUEST_PROTOCOL_FORBIDDEN'],
  ...['OAUTH_HTTP_REQUEST_FORBIDDEN', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'],
]);

/** The state, a token or a code does not hold, or the provider refuses. */
export function flowInvalid(cause?: unknown): HawserError {
  const message = 'The sign-in was not finished, or is too old. Begin it again';
  return new HawserError('invalid', 'oidc_flow_invalid', message, { cause });
}

export function unavailable(cause: unknown): HawserError {
  const message = 'The identity provider cannot be reached, or does not answer as it should. Try again later';
  return new HawserError('unavailable', 'oidc_unavailable', message, { cause });
}

/** @param error what a library has thrown at what a provider has sent */
export function providerFault(error: unknown): HawserError {
  if (error instanceof HawserError) return error;
  for (const one of causesOf(error)) {
    // The last is how openid-client tells of a body in which members are missing or have other types.
    if (one instanceof ProviderAway || NONSENSE.has(String(one['code'])) || Object.hasOwn(one, 'body'))
      return unavailable(error);
  }
  return flowInvalid(error);
}

/** A library wraps what a check of another one says. */
function* causesOf(error: unknown): Generator<Record<string, unknown>> {
  for (let one = error; typeof one === 'object' && one !== null; one = (one as { cause?: unknown }).cause)
    yield one as Record<string, unknown>;
}
