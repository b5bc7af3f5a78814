/** Folders and databases that a suite makes for its tests and deletes after them. Called where its hooks would stand. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/open.ts';

/** Each test gets a new one, or all tests of the suite have the same. */
export type Sharing = 'each test' | 'all tests';

/** The hooks that make it and delete it. */
export function hooksFor(sharing: Sharing): [typeof beforeEach, typeof afterEach] {
  return sharing === 'each test' ? [beforeEach, afterEach] : [before, after];
}

/** @returns gives the folder, or what has this path in it */
export function temporaryFolder(sharing: Sharing = 'each test'): (path?: string) => string {
  let folder = '';
  const [setUp] = hooksFor(sharing);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  before(function () {
    const suite = this.test?.parent;
    if (!suite) throw new Error('A folder belongs to a suite');
    // It comes after the hooks that the suite declares, one of which may end a server that still writes there.
    if (sharing === 'each test') suite.afterEach(remove);
    else suite.afterAll(remove);
  });
  setUp(() => {
    folder = newFolder();
  });
  return (path = '') => join(folder, path);
}

/** A new SQLite database, which has all tables. */
export function temporarySqlite(sharing: Sharing = 'each test'): () => Database {
  let folder = '';
  let database: Database;
  const [setUp, tearDown] = hooksFor(sharing);
  setUp(async () => {
    folder = newFolder();
    database = await openSqlite(folder);
  });
  tearDown(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => database;
}

/** A folder for one piece of work. */
export async function inFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = newFolder();
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'hawser-test-'));
}
