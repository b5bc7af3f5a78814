/**
 * One server for each folder. A server holds a lock on `hawser.lock` in its data folder and in its repositories folder for
 * as long as it lives. The lock is one that SQLite takes from the operating system: it ends with the process that
 * holds it, however that ends, and nobody has to guess whether its holder is still alive (docs/decisions/0042).
 */

import { accessSync, chmodSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { type Config, ConfigError } from '../config.ts';
import { SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import { isHeld } from './errors.ts';

/** An SQLite database without tables. Only the first start writes to it. */
export const LOCK_FILE = 'hawser.lock';
/** The process id of the holder and the name of its machine, a line each. It is read by people and for messages only. */
export const PID_FILE = 'hawser.pid';

/** Milliseconds for which a start waits: a server that is closing needs a moment to end. */
const PATIENCE = 3 * SECOND;

export interface FolderLocks {
  /** Gives the folders back. The end of the process does the same. */
  release(): void;
}

interface Folder {
  setting: 'HAWSER_DATA_DIR' | 'HAWSER_REPOS_DIR';
  path: string;
}

/** A handle that nothing refers to would be closed by the garbage collector, and its lock would end. */
const held = new Set<SqliteHandle>();

/**
 * Takes both folders, which must exist, and keeps every other server out of them.
 * @throws HawserError `folder_in_use`, which names the process that holds a folder
 * @throws ConfigError where the file cannot be locked for another reason
 */
export function lockFolders({ dataDir, reposDir }: Config): FolderLocks {
  const folders: Folder[] = [{ setting: 'HAWSER_DATA_DIR', path: dataDir }];
  if (!isSameFolder(dataDir, reposDir)) folders.push({ setting: 'HAWSER_REPOS_DIR', path: reposDir });
  const handles: SqliteHandle[] = [];
  const release = (): void => {
    for (const { path } of folders.slice(0, handles.length)) forgetHolder(path);
    for (const handle of handles) {
      held.delete(handle);
      handle.close();
    }
  };
  try {
    for (const folder of folders) {
      const handle = lockFolder(folder);
      held.add(handle);
      handles.push(handle);
      noteHolder(folder.path);
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/** @returns the first lines of the file of its holder, or null where no server holds the folder */
export function findHolder(folder: string): { pid: number; host: string } | null {
  let handle: SqliteHandle | undefined;
  try {
    handle = new SqliteDatabase(join(folder, LOCK_FILE), { timeout: 0, fileMustExist: true });
    handle.exec('BEGIN IMMEDIATE; ROLLBACK');
    return null;
  } catch (error) {
    if (!isHeld(error)) return null;
    const [pid, host = ''] = readHolder(folder).split('\n');
    return { pid: Number(pid), host };
  } finally {
    handle?.close();
  }
}

/** Two settings may name one folder, which a process can lock only once. */
function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [statSync(one), statSync(other)];
  return first.dev === second.dev && first.ino === second.ino;
}

function lockFolder(folder: Folder): SqliteHandle {
  const file = join(folder.path, LOCK_FILE);
  let handle: SqliteHandle | undefined;
  try {
    handle = new SqliteDatabase(file, { timeout: PATIENCE });
    // The file is made first, so that no journal stands beside it. This also waits for the workers that a server of
    // release 0.2 may have left. Of two servers that come at once, one gets the lock that is kept.
    handle.exec('BEGIN EXCLUSIVE; COMMIT');
    handle.exec('BEGIN IMMEDIATE');
    // Whoever can open the file can hold up a start. An old file of another user must be found out as well: SQLite opens
    // a file read-only if it must, and then its locks exclude nobody.
    chmodSync(file, 0o600);
    accessSync(file, constants.R_OK | constants.W_OK);
    return handle;
  } catch (error) {
    handle?.close();
    throw isHeld(error) ? folderInUse(folder) : cannotLock(folder, error);
  }
}

/** A full disk must not keep a server from starting, so a failure is let pass: the lock alone counts. */
function noteHolder(folder: string): void {
  try {
    writeFileSync(join(folder, PID_FILE), `${process.pid}\n${hostname()}\n`, { mode: 0o600 });
  } catch {
    forgetHolder(folder);
  }
}

function forgetHolder(folder: string): void {
  try {
    rmSync(join(folder, PID_FILE), { force: true });
  } catch {
    // The file says who held the folder last, which harms nobody.
  }
}

function folderInUse({ setting, path }: Folder): HawserError {
  const kind = setting === 'HAWSER_DATA_DIR' ? 'data folder' : 'repositories folder';
  const message =
    `${setting}: another Hawser server${describeHolder(path)} uses ${path}. ` +
    `Stop that one first, or give this one a ${kind} of its own`;
  return new HawserError('invalid', 'folder_in_use', message);
}

/** The process, and its machine unless it is this one. In a container, the machine is the container. */
function describeHolder(folder: string): string {
  const [pid, host] = readHolder(folder).split('\n');
  if (!/^\d+$/.test(pid ?? '')) return '';
  return ` (process ${pid}${host && host !== hostname() ? ` on ${host}` : ''})`;
}

function readHolder(folder: string): string {
  try {
    return readFileSync(join(folder, PID_FILE), 'utf8');
  } catch {
    return '';
  }
}

function cannotLock({ setting }: Folder, error: unknown): ConfigError {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const allowed = 'a folder of this user, on a file system that has file locks';
  return new ConfigError(setting, `its file ${LOCK_FILE} cannot be locked (${code})`, allowed);
}
