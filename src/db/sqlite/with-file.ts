/** Opens an SQLite file for one piece of work. */

import SqliteDatabase, { type Options, type Database as SqliteHandle } from 'better-sqlite3';

/** @throws the driver's error if the file cannot be opened */
export function withFile<T>(file: string, options: Options, work: (handle: SqliteHandle) => T): T {
  const handle = new SqliteDatabase(file, options);
  try {
    return work(handle);
  } finally {
    handle.close();
  }
}

export async function withFileAsync<T>(file: string, work: (handle: SqliteHandle) => Promise<T>): Promise<T> {
  const handle = new SqliteDatabase(file);
  try {
    return await work(handle);
  } finally {
    handle.close();
  }
}
