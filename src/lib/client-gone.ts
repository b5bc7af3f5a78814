/** Work for a client who goes away before its end. */

import { type HawserError, invalid } from './errors.ts';

/** Nobody gets this answer; it stands in the log. */
export function clientGone(): HawserError {
  return invalid('client_gone', 'The client went away');
}

/** @throws HawserError `client_gone` once the signal is aborted */
export function refuseGone(gone: AbortSignal | undefined): void {
  if (gone?.aborted) throw clientGone();
}
