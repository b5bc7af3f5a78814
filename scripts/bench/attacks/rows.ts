/** The rows of the part on attacks, in their order. */

import type { Attack } from './attack.ts';
import { ONE_BUNDLE, UNREAD_BUNDLES } from './bundles.ts';
import { BYTE_BY_BYTE } from './byte-by-byte.ts';
import { COMPARED_VERSIONS } from './comparisons.ts';
import { LARGE_OBJECTS, SHARED_FOLDER, STALLED_FETCHES } from './git.ts';
import { HALF_SENT } from './half-sent.ts';
import { LARGE_PUBLISHING, LARGE_REPORTS, LARGE_UPLOAD } from './large-requests.ts';
import { LOCKED_DATABASE } from './locked-database.ts';
import { LARGE_DOCUMENT, PROVENANCE, VALIDATIONS_AT_ONCE } from './parameters.ts';
import { PIPELINED_BUNDLES, PIPELINED_POLLS } from './pipelined.ts';
import { SIGN_INS } from './sign-ins.ts';
import { SLOW_UPLOADS } from './slow-uploads.ts';
import { ALLOWED_DEPTH, DEEP_FILES, MANY_DEEP_FILES, MANY_FILES } from './trees.ts';
import { UNREAD_FILES, UNREAD_PATCHES } from './unread-files.ts';

export const ATTACKS: readonly Attack[] = [
  HALF_SENT,
  SLOW_UPLOADS,
  SIGN_INS,
  BYTE_BY_BYTE,
  PROVENANCE,
  DEEP_FILES,
  MANY_DEEP_FILES,
  ALLOWED_DEPTH,
  MANY_FILES,
  UNREAD_BUNDLES,
  ONE_BUNDLE,
  LOCKED_DATABASE,
  VALIDATIONS_AT_ONCE,
  LARGE_DOCUMENT,
  LARGE_REPORTS,
  LARGE_UPLOAD,
  LARGE_PUBLISHING,
  PIPELINED_POLLS,
  PIPELINED_BUNDLES,
  COMPARED_VERSIONS,
  SHARED_FOLDER,
  LARGE_OBJECTS,
  STALLED_FETCHES,
  UNREAD_FILES,
  UNREAD_PATCHES,
];

/** @throws Error if there is no attack of that name */
export function attackNamed(name: string): Attack {
  const attack = ATTACKS.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  return attack;
}
