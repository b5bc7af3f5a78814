/** Which release of Hawser this is. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** From the package that this file is in, built or not. */
export function readVersion(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;
}
