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

/** An error code as OAuth and its extensions have them, such as `invalid_grant`. No secret is of this form. */
const REFUSAL = /^[a-z_]{1,40}$/;

/** The state, a token or a code does not hold, or the provider refuses. */
export function flowInvalid(cause?: unknown): HawserError {
  const message = 'The sign-in was not finished, or is too old. Begin it again';
  return new HawserError('invalid', 'oidc_flow_invalid', message, { cause: forLog(cause) });
}

export function unavailable(cause: unknown): HawserError {
  const message = 'The identity provider cannot be reached, or does not answer as it should. Try again later';
  return new HawserError('unavailable', 'oidc_unavailable', message, { cause: forLog(cause) });
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

/**
 * An error as the log may have it, with its causes. The libraries hang whatever came to their errors: the body of an
 * answer with its tokens, the words of a provider, which may quote a code or the client secret, and the claims of a
 * token. So this copies what is known to hold none of it, and nothing else.
 * @param error what a library has thrown at what a provider or a job has sent
 */
export function forLog(error: unknown): Error | undefined {
  // A cause that is no error is what came.
  if (!(error instanceof Error)) return undefined;
  const { name, stack = '', cause, ...more } = error as Error & Record<string, unknown>;
  const message = messageOf(error);
  const copy = new Error(message, { cause: forLog(cause) });
  // A stack begins with the message.
  const calls = stack.replace(error.message, '').split('\n    at ').slice(1);
  Object.defineProperty(copy, 'stack', { value: [`${name}: ${message}`, ...calls].join('\n    at ') });
  return Object.assign(copy, { name }, factsOf(more));
}

/** Errors of the language quote what they are about, as JSON.parse does with its text, so their name must do. */
function messageOf(error: Error): string {
  const isOfLanguage = [SyntaxError, TypeError, RangeError].some((one) => error instanceof one);
  return isOfLanguage ? error.name : error.message;
}

/** What tells one fault from another: code, HTTP status, and the error code of OAuth. */
function factsOf({ code, status, error }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof status === 'number' && { status }),
    ...(typeof error === 'string' && REFUSAL.test(error) && { error }),
  };
}

/** A library wraps what a check of another one says. */
function* causesOf(error: unknown): Generator<Record<string, unknown>> {
  for (let one = error; typeof one === 'object' && one !== null; one = (one as { cause?: unknown }).cause)
    yield one as Record<string, unknown>;
}
