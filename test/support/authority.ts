/** The built-in authority of a server under test, with its key, wherever the server keeps it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabasePlace } from '../../src/db/database.ts';
import { readSecret } from '../../src/db/secrets.ts';
import { withDatabase } from './database.ts';

/** Both are PEM. */
export async function readAuthority(place: DatabasePlace): Promise<{ certificate: string; key: string }> {
  const read = (name: 'ca.crt' | 'ca.key') =>
    place.databaseUrl === null
      ? readFileSync(join(place.dataDir, 'tls', name), 'utf8')
      : withDatabase(place, async ({ read: db }) => String(await readSecret(db, name)));
  return { certificate: await read('ca.crt'), key: await read('ca.key') };
}
