/** Writes the rows and files of a site to where an OpenDSC server has them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';
import { newDatabase } from '../postgres.ts';
import { createTable, type Engine, partsOf } from './create-table.ts';
import type { Row } from './options.ts';
import { TABLES } from './schema.ts';
import type { OpenDscSite } from './site.ts';
import { valueFor } from './values.ts';

/** Rows of one statement. */
const BATCH = 500;

export interface WrittenSite {
  /** What `--database` takes: the path of a file, or a URL. */
  location: string;
  /** The data folder. */
  files: string;
}

export async function writeSite(site: OpenDscSite, engine: Engine, folder: string): Promise<WrittenSite> {
  for (const [path, content] of site.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const location = engine === 'sqlite' ? writeSqlite(site, folder) : await writePostgres(site);
  return { location, files: folder };
}

/** The file is in WAL mode, and nobody has it open afterwards. */
function writeSqlite(site: OpenDscSite, folder: string): string {
  const file = join(folder, 'database/opendsc-server.db');
  mkdirSync(dirname(file), { recursive: true });
  const database = new SqliteDatabase(file);
  database.pragma('journal_mode = WAL');
  database.pragma('foreign_keys = ON');
  database.transaction(() => {
    for (const [name, columns] of Object.entries(TABLES)) {
      database.exec(createTable(name, columns, 'sqlite'));
      const insert = database.prepare(insertInto(name, 1, () => '?'));
      for (const row of site.rowsOf(name)) insert.run(valuesOf(name, row, 'sqlite'));
    }
  })();
  database.close();
  return file;
}

/** The database ends with the tests. */
async function writePostgres(site: OpenDscSite): Promise<string> {
  const { url } = await newDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  for (const [name, columns] of Object.entries(TABLES)) {
    await client.query(createTable(name, columns, 'postgres'));
    const rows = site.rowsOf(name);
    for (let start = 0; start < rows.length; start += BATCH) {
      const batch = rows.slice(start, start + BATCH);
      const values = batch.flatMap((row) => valuesOf(name, row, 'postgres'));
      await client.query(
        insertInto(name, batch.length, (number) => `$${number}`),
        values,
      );
    }
  }
  await client.query('commit');
  await client.end();
  return url;
}

/** @param mark gives the place of a value by its number, from 1 */
function insertInto(name: string, rows: number, mark: (number: number) => string): string {
  const columns = Object.keys(TABLES[name] ?? {});
  const tuples = Array.from({ length: rows }, (_, row) => {
    return `(${columns.map((_column, index) => mark(row * columns.length + index + 1)).join(', ')})`;
  });
  return `INSERT INTO "${name}" (${columns.map((column) => `"${column}"`).join(', ')}) VALUES ${tuples.join(', ')}`;
}

function valuesOf(name: string, row: Row, engine: Engine): (string | number | boolean | null)[] {
  return Object.entries(TABLES[name] ?? {}).map(([column, form]) =>
    valueFor(engine, partsOf(form).type, row[column] ?? null),
  );
}
