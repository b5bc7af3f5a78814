/** The version of this release. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Set in the clients alone, which have no package.json beside them (scripts/build-clients.js). */
declare const HAWSER_VERSION: string;

/** Gives the version that a client was built with, else that of the package that this file is in, built or not. */
export function readVersion(): string {
  if (typeof HAWSER_VERSION === 'string') return HAWSER_VERSION;
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;
}
