/** The database of a server, for what the API does not show or let a test do. */

import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import type { Database, DatabasePlace } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ENGINE, placeOf } from './engine.ts';
import { queryAs } from './postgres/cluster.ts';
import { copyDatabase, databaseName, querySharedCluster } from './postgres.ts';

/** The files in the data folder that hold the database while a server runs. PostgreSQL has none there. */
export const DATABASE_FILES: readonly string[] = ENGINE === 'sqlite' ? ['hawser.db', 'hawser.db-wal'] : [];

/** Opens a second connection to the database of a running server. */
export async function withDatabase<T>(
  place: DatabasePlace,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(place);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Opens the database that belongs to a data folder. */
export async function openDatabaseOf(dataDir: string): Promise<Database> {
  return openDatabase(await placeOf(dataDir));
}

/** Copies the folders and the database of a server that is stopped. The new folder may be there already. */
export async function copySite(from: string, to: string): Promise<void> {
  const [source, target] = [await placeOf(join(from, 'data')), await placeOf(join(to, 'data'))];
  for (const name of ['data', 'repos'])
    cpSync(join(from, name), join(to, name), { recursive: true, preserveTimestamps: true });
  if (source.databaseUrl !== null && target.databaseUrl !== null)
    await copyDatabase(source.databaseUrl, target.databaseUrl);
}

/** Runs statements that no server would: nothing looks after the references between rows. */
export async function changeRows({ dataDir, databaseUrl }: DatabasePlace, ...statements: string[]) {
  if (databaseUrl !== null) {
    const text = ['set session_replication_role = replica', ...statements].join(';\n');
    await querySharedCluster(text, databaseName(databaseUrl));
    return;
  }
  const database = new SqliteDatabase(join(dataDir, 'hawser.db'));
  database.pragma('foreign_keys = OFF');
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** All that the database holds, by file or by table, so that a test can look for what must not be in it. */
export async function storedBytes({ dataDir, databaseUrl }: DatabasePlace): Promise<Map<string, Buffer>> {
  const stored = new Map<string, Buffer>();
  if (databaseUrl === null) {
    for (const name of ['hawser.db', 'hawser.db-wal']) {
      const path = join(dataDir, name);
      if (existsSync(path)) stored.set(path, readFileSync(path));
    }
    return stored;
  }
  const tables = await queryAs<{ name: string }>(
    databaseUrl,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  for (const { name } of tables) {
    const rows = await queryAs<{ row: string }>(databaseUrl, `select t::text as row from "${name}" t`);
    stored.set(name, Buffer.from(rows.map(({ row }) => row).join('\n')));
  }
  return stored;
}
