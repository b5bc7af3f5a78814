/** What all repositories that git fetches from have in common: media types, limits, refusals. */

import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { forbidden, invalid } from '../../lib/errors.ts';
import { pushNotSupported } from './pushes.ts';

export const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement';
export const REQUEST = 'application/x-git-upload-pack-request';
export const RESULT = 'application/x-git-upload-pack-result';

/** A git client lists what it has and wants: 50 bytes an object, and it stops long before so many bytes. */
export const REQUEST_BYTES = 10 * 1024 * 1024;

const DUMB_REFUSED = "Only Git's smart protocol is spoken here: ask for ?service=git-upload-pack";

export const FETCH_PROBLEMS = [
  'rate_limited',
  'overloaded',
  'too_slow',
  'git_not_available',
  'git_timeout',
  'partial_read',
  ...READING_REPOSITORIES,
];

/** @throws HawserError forbidden `push_not_supported`, `smart_protocol_only`; invalid `unknown_service` */
export function refuseOtherServices(service: string | undefined): void {
  if (service === 'git-upload-pack') return;
  if (service === 'git-receive-pack') throw pushNotSupported();
  if (service === undefined) throw forbidden(DUMB_REFUSED, 'smart_protocol_only');
  throw invalid('unknown_service', 'There is no such service');
}
