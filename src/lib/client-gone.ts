/** Work for a client who disconnects before its end. */

import { type HawserError, invalid } from './errors.ts';

/** No client gets this error as an answer. It is only logged. */
export function clientGone(): HawserError {
  return invalid('client_gone', 'The client went away');
}

/** @throws HawserError `client_gone` once the signal is aborted */
export function refuseGone(gone: AbortSignal | undefined): void {
  if (gone?.aborted) throw clientGone();
}
