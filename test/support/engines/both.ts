/** A new database on each of the two engines, to run the same statements on both and to look at what is in them then. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DatabasePlace } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { MIGRATIONS } from '../../../src/db/postgres/migrations.ts';
import type { Schema } from '../../../src/db/schema.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { newDatabase } from '../postgres.ts';

export type Row = Record<string, unknown>;

/** One of the two. */
export interface EngineHandle {
  all<T = Row>(statement: string): Promise<T[]>;
  run(statement: string): Promise<void>;
}

export interface BothEngines {
  sqlite: EngineHandle;
  postgres: EngineHandle;
  close(): Promise<void>;
}

export async function openBoth(): Promise<BothEngines> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-engines-'));
  await (await openSqlite(folder)).close();
  const handle = new SqliteDatabase(join(folder, 'hawser.db'));
  handle.pragma('foreign_keys = on');
  const { url, close } = await newMigratedDatabase();
  const client = await connect(url);
  return {
    sqlite: onSqlite(handle),
    postgres: onPostgres(client),
    async close() {
      handle.close();
      rmSync(folder, { recursive: true, force: true });
      await client.end();
      await close();
    },
  };
}

/** A new PostgreSQL database with all tables. */
export async function newMigratedDatabase(): Promise<{ url: string; close(): Promise<void> }> {
  const { url, drop } = await newDatabase();
  const db = openKysely(url);
  await migrate(db, MIGRATIONS);
  await db.destroy();
  return { url, close: drop };
}

/** A connection for migrations. */
export function openKysely(url: string): Kysely<Schema> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  // A connection that has been closed may not have reached PostgreSQL when its database is deleted with force.
  pool.on('error', () => undefined);
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}

/** PostgreSQL's numbers of the types bigint and numeric, which are numbers here. */
const NUMBERS: readonly number[] = [20, 1700];

/** A connection that gives numbers as SQLite does. */
export async function connect(url: string): Promise<pg.Client> {
  const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
    NUMBERS.includes(type) ? Number : pg.types.getTypeParser(type, format as 'text');
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
  await client.connect();
  return client;
}

/** An existing database, beside the server that uses it. */
export interface OpenPlace extends EngineHandle {
  /** What the engine finds wrong with the database itself. */
  ownFaults(): Promise<unknown[]>;
  close(): Promise<void>;
}

export async function openPlace({ dataDir, databaseUrl }: DatabasePlace): Promise<OpenPlace> {
  if (databaseUrl !== null) {
    const client = await connect(databaseUrl);
    return { ...onPostgres(client), ownFaults: async () => [], close: () => client.end() };
  }
  const handle = new SqliteDatabase(join(dataDir, 'hawser.db'), { readonly: true });
  return {
    ...onSqlite(handle),
    ownFaults: async () => {
      const [{ integrity_check: word }] = handle.pragma('integrity_check') as [{ integrity_check: string }];
      return [...(word === 'ok' ? [] : [word]), ...(handle.pragma('foreign_key_check') as unknown[])];
    },
    close: async () => void handle.close(),
  };
}

const onSqlite = (handle: SqliteDatabase.Database): EngineHandle => ({
  all: async <T>(statement: string) => handle.prepare<[], T>(statement).all(),
  run: async (statement) => void handle.exec(statement),
});

export const onPostgres = (client: pg.Client): EngineHandle => ({
  all: async <T>(statement: string) => (await client.query(statement)).rows as T[],
  run: async (statement) => void (await client.query(statement)),
});
