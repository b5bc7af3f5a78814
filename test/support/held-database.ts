/** Another program that holds the database, as a backup script, an editor or a forgotten shell would. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { PROJECT } from '../../scripts/support/project.ts';
import type { DatabasePlace } from '../../src/db/database.ts';

/** Prints a line when it holds the write lock, and releases the lock when its standard input ends. */
const PROGRAM = `
  import SqliteDatabase from 'better-sqlite3';
  const database = new SqliteDatabase(process.argv[1]);
  database.exec(process.argv[2]);
  process.stdout.write('held\\n');
  process.stdin.on('end', () => {
    database.exec('ROLLBACK');
    database.close();
  });
  process.stdin.resume();
`;

export interface Holder {
  isHeld(): boolean;
  /** Resolves when the database is free again. */
  release(): Promise<void>;
}

/**
 * Resolves when somebody else holds the database, so that it can be read and not written.
 * @param statement what SQLite is held with; see sqlite.org/lang_transaction.html
 */
export function holdDatabase(
  { dataDir, databaseUrl }: DatabasePlace,
  statement = 'BEGIN IMMEDIATE',
): Promise<Holder> {
  return databaseUrl === null ? holdFile(join(dataDir, 'hawser.db'), statement) : holdTables(databaseUrl);
}

/** A separate process holds the file, because a process waits for nothing that it holds itself. */
async function holdFile(file: string, statement: string): Promise<Holder> {
  const words = ['--input-type=module', '-e', PROGRAM, file, statement];
  const child = spawn(process.execPath, words, { cwd: PROJECT, stdio: ['pipe', 'pipe', 'inherit'] });
  let isHeld = true;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('close', () => reject(new Error('could not hold the database')));
  });
  return {
    isHeld: () => isHeld,
    release: () => {
      isHeld = false;
      child.stdin.end();
      return ended;
    },
  };
}

/** A transaction locks all tables against writes. */
async function holdTables(databaseUrl: string): Promise<Holder> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // The database may be deleted while it is held, at the end of a test that has failed.
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query(
    `select quote_ident(tablename) from pg_tables where schemaname = 'public'`,
  );
  const tables = rows.map(({ quote_ident: name }) => name).join(', ');
  await client.query(`begin; lock table ${tables} in exclusive mode`);
  let isHeld = true;
  return {
    isHeld: () => isHeld,
    release: async () => {
      isHeld = false;
      await client.end();
    },
  };
}
