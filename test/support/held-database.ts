/** Another program that holds the database, as a backup script, an editor or a forgotten shell would. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../..');

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

/** Resolves when a separate process holds the database of the data folder. */
export async function holdDatabase(dataDir: string, statement = 'BEGIN IMMEDIATE'): Promise<Holder> {
  const words = ['--input-type=module', '-e', PROGRAM, join(dataDir, 'hawser.db'), statement];
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
