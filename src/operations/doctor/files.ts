/** The files and folders that the server uses: who may read them, what should be gone by now, and room on the disk. */

import type { Stats } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { STORED_KINDS } from '../../git/types.ts';
import { HOUR } from '../../lib/clock.ts';
import { ADMIN, PASSWORD_FILE } from '../../security/built-ins.ts';
import { KEY_FILE } from '../../security/secrets/key-file.ts';
import { type Check, describeFailure, type Finding, faultOf, noteOf, warningOf } from './findings.ts';
import { formatSize } from './sizes.ts';

/** Milliseconds. A younger unfinished file may be in use still. */
const UNFINISHED_AGE = HOUR;

const MIB = 1024 * 1024;
const MIN_BYTES = 100 * MIB;
const MIN_SHARE = 0.02;
const LOW_SHARE = 0.1;
const MAKE_ROOM = 'make room: at a full disk the server refuses every change (507 insufficient_storage)';

/** The permission bits of everybody but the owner. */
const OTHERS = 0o077;
/** The permission bits of those who are not in the file's group. A file that a setting names may be shared with a group. */
const STRANGERS = 0o007;

interface Guarded {
  path: string;
  /** The permission bits that must not be set. */
  forbidden: number;
  /** Whether it must belong to the owner of the data folder. */
  isOwn: boolean;
}

/** Folders and files with secrets are for one user alone, and all of them belong to the same user. */
export async function checkPermissions(config: Config): Promise<Check> {
  const guarded = await listGuarded(config);
  const owner = (await stat(config.dataDir).catch(() => null))?.uid ?? null;
  const findings: Finding[] = [];
  // Windows has other permissions, which Node does not report.
  if (process.platform !== 'win32') {
    for (const each of guarded) findings.push(...(await findWrongPermissions(each, owner)));
  }
  return { name: 'permissions', summary: `${guarded.length} folders and files`, findings };
}

async function listGuarded({ dataDir, reposDir, tls, secretsKeyFile }: Config): Promise<Guarded[]> {
  const secrets = ['hawser.db', 'hawser.db-wal', 'hawser.db-shm', PASSWORD_FILE, KEY_FILE];
  const inData = ['', 'tls', ...secrets, 'tls/ca.key', 'tls/server.key'].map((name) => join(dataDir, name));
  const guarded = [...inData, reposDir].map((path) => ({ path, forbidden: OTHERS, isOwn: true }));
  for (const kind of STORED_KINDS.map((name) => join(reposDir, name))) {
    const repositories = (await namesIn(kind)).map((name) => join(kind, name));
    // The permissions of the folder above them are enough.
    guarded.push(...[kind, ...repositories].map((path) => ({ path, forbidden: 0, isOwn: true })));
  }
  for (const path of [tls.keyFile, secretsKeyFile])
    if (path !== null) guarded.push({ path, forbidden: STRANGERS, isOwn: false });
  return guarded;
}

async function findWrongPermissions(
  { path, forbidden, isOwn }: Guarded,
  owner: number | null,
): Promise<Finding[]> {
  try {
    const stats = await unlessAbsent(stat(path), null);
    if (stats === null) return [];
    return [...faultsOfMode(path, stats, forbidden), ...(isOwn ? faultsOfOwner(path, stats, owner) : [])];
  } catch (error) {
    const what = `cannot be looked at: ${describeFailure(error)}`;
    return [faultOf(path, what, 'run this as the user of the server')];
  }
}

function faultsOfMode(path: string, stats: Stats, forbidden: number): Finding[] {
  const mode = stats.mode & 0o777;
  if ((mode & forbidden) === 0) return [];
  const what = `other users of this machine may use it (mode ${mode.toString(8).padStart(4, '0')})`;
  if (stats.isDirectory()) return [warningOf(path, what, `chmod 0700 ${path}`)];
  return [faultOf(path, what, `chmod 0600 ${path}; whoever could read it may know what it holds`)];
}

function faultsOfOwner(path: string, stats: Stats, owner: number | null): Finding[] {
  if (owner === null || stats.uid === owner) return [];
  const what = `it belongs to user ${stats.uid}, and the data folder to user ${owner}`;
  return [faultOf(path, what, `chown -R ${owner} ${path}; the server may not be able to use it`)];
}

/**
 * The first password, once it has been changed, and the files of writes that were cut off.
 * @param db null when the database cannot be read
 */
export async function checkLeftOvers(config: Config, db: Db | null, now: number): Promise<Check> {
  const { dataDir, reposDir } = config;
  const unfinished = [
    ...(await listOld(dataDir, '.tmp', now)),
    ...(await listOld(join(dataDir, 'tls'), '.tmp', now)),
    ...(await listOld(join(reposDir, '.tmp'), '', now)),
  ].map((path) => noteOf(path, 'left by something that was cut off', 'it may be removed'));
  const findings = [...(await checkFirstPassword(dataDir, db)), ...unfinished];
  return { name: 'left-overs', summary: 'the first password, unfinished files', findings };
}

async function checkFirstPassword(dataDir: string, db: Db | null): Promise<Finding[]> {
  const path = join(dataDir, PASSWORD_FILE);
  if (db === null || (await modifiedAt(path)) === null) return [];
  const admin = await db
    .selectFrom('users')
    .select('require_password_change as mustChange')
    .where('username_key', '=', ADMIN)
    .executeTakeFirst();
  if (admin?.mustChange === 1) {
    const remedy = `sign in as "${ADMIN}" and change it; the file goes with that`;
    return [noteOf(path, 'the first password has not been changed yet', remedy)];
  }
  return [faultOf(path, 'the first password still lies there after it was changed', 'remove the file')];
}

/** What the folder holds; nothing only where there is no such folder. @throws what else keeps it from being read */
function namesIn(folder: string): Promise<string[]> {
  return unlessAbsent(readdir(folder), []);
}

async function listOld(folder: string, ending: string, now: number): Promise<string[]> {
  const found: string[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const at = name.endsWith(ending) ? await modifiedAt(path) : null;
    if (at !== null && at < now - UNFINISHED_AGE) found.push(path);
  }
  return found;
}

/** Epoch milliseconds; null when the file is absent or cannot be looked at. */
async function modifiedAt(path: string): Promise<number | null> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? null;
}

/** How much room is left in these folders: bytes, and inodes. */
export async function checkDiskSpace(folders: readonly string[]): Promise<Check> {
  const findings: Finding[] = [];
  const summaries: string[] = [];
  for (const folder of folders) {
    try {
      const { bavail, blocks, bsize, ffree, files } = await statfs(folder);
      const free = bavail * bsize;
      summaries.push(`${formatSize(free)} free for ${folder}`);
      findings.push(
        ...judgeSpace(folder, `${formatSize(free)} are`, bavail / blocks, free < MIN_BYTES),
        // A file system that makes inodes as they are needed reports none.
        ...(files > 0 ? judgeSpace(folder, `${ffree} places for files are`, ffree / files, false) : []),
      );
    } catch (error) {
      findings.push(warningOf(folder, `cannot be looked at: ${describeFailure(error)}`));
    }
  }
  return { name: 'disk space', summary: summaries.join(', ') || 'not known', findings };
}

function judgeSpace(folder: string, what: string, share: number, isTooSmall: boolean): Finding[] {
  const told = `${what} free, ${(share * 100).toFixed(1)} % of the disk`;
  if (share < MIN_SHARE || isTooSmall) return [faultOf(folder, told, MAKE_ROOM)];
  return share < LOW_SHARE ? [warningOf(folder, told, MAKE_ROOM)] : [];
}
