/** The version of this release. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads the version from the package that this file is in, built or not. */
export function readVersion(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;
}
