/** Makes errors the problem details that callers see (RFC 9457). One table gives each kind its status. */

import { diskFault } from '../lib/disk-faults.ts';
import { type ErrorKind, HawserError } from '../lib/errors.ts';
import type { Answer } from './answer.ts';

const STATUSES: Record<ErrorKind, { status: number; title: string }> = {
  invalid: { status: 400, title: 'Bad Request' },
  unauthenticated: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  not_acceptable: { status: 406, title: 'Not Acceptable' },
  conflict: { status: 409, title: 'Conflict' },
  gone: { status: 410, title: 'Gone' },
  timed_out: { status: 408, title: 'Request Timeout' },
  precondition_failed: { status: 412, title: 'Precondition Failed' },
  too_large: { status: 413, title: 'Content Too Large' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  locked: { status: 423, title: 'Locked' },
  rate_limited: { status: 429, title: 'Too Many Requests' },
  internal: { status: 500, title: 'Internal Server Error' },
  not_implemented: { status: 501, title: 'Not Implemented' },
  unavailable: { status: 503, title: 'Service Unavailable' },
  storage_full: { status: 507, title: 'Insufficient Storage' },
};

const BEARER_CHALLENGE = 'Bearer realm="hawser"';
/** This makes git ask its user, or a credential helper, for user name and password. */
export const BASIC_CHALLENGE = 'Basic realm="hawser", charset="UTF-8"';

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function statusOf(error: HawserError): number {
  return STATUSES[error.kind].status;
}

/** The answer to a request that failed. */
export function problemAnswer(error: HawserError, challenge: string = BEARER_CHALLENGE): Answer {
  const { status, title } = STATUSES[error.kind];
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store' };
  if (status === 401) headers['WWW-Authenticate'] = challenge;
  // The body of such a request is not read to its end (RFC 9110 15.5.9).
  if (status === 408) headers['Connection'] = 'close';
  if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter);
  if (error.allow !== undefined) headers['Allow'] = error.allow;
  const problem = {
    type: 'about:blank',
    title,
    status,
    detail: error.message,
    code: error.code,
    ...error.data,
  };
  return { status, headers, body: JSON.stringify(problem) };
}

/** Makes the answer plain text, which is all that stock git shows to its user, each line behind `remote:`. */
export function plainProblem(error: HawserError): Answer {
  const { status, headers } = problemAnswer(error, BASIC_CHALLENGE);
  return {
    status,
    headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' },
    body: `${error.message}\n`,
  };
}

/** Makes any thrown value an error that may be shown. What was thrown stays as the cause, for the log. */
export function toHawserError(error: unknown, translate: (error: unknown) => unknown): HawserError {
  const translated = translate(error);
  if (translated instanceof HawserError) return translated;
  const fault = diskFault((translated as NodeJS.ErrnoException | null)?.code, error);
  if (fault !== null) return fault;
  const message = 'Something went wrong on the server; the log has the details under this request id';
  return new HawserError('internal', 'internal_error', message, { cause: error });
}
