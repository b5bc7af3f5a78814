/**
 * A program that brings caches of repositories to the state of PostgreSQL, one for each HTTP request on a socket. It ends
 * with the test that started it.
 */

import { createServer } from 'node:http';
import { openPostgresForReading } from '../../src/db/postgres/reading.ts';
import type { ReadingDatabase } from '../../src/db/reading.ts';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { CacheFolders } from '../../src/git/cache-folders.ts';
import { UNFLUSHED_DISK } from '../../src/git/disk.ts';
import { SharedRepositories } from '../../src/git/shared-repositories.ts';
import type { RepositoryRef } from '../../src/git/types.ts';

const [socket = ''] = process.argv.slice(2);

async function materialise(url: string, root: string, ref: RepositoryRef): Promise<void> {
  const database: ReadingDatabase = openPostgresForReading(url);
  try {
    if (database.repositories === null) throw new Error('This is no PostgreSQL');
    const shared = new SharedRepositories({ root, reader: database.repositories, tables: null });
    await new CacheFolders(shared, { cache: new AtomicFs(UNFLUSHED_DISK), root }).materialise(ref);
  } finally {
    await database.close();
  }
}

createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const asked = (name: string) => searchParams.get(name) ?? '';
  const ref = { kind: asked('kind'), name: asked('name') } as RepositoryRef;
  try {
    await materialise(asked('database'), asked('root'), ref);
    response.end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(socket);

process.stdin.resume().on('end', () => process.exit());
