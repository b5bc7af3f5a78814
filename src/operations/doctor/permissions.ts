/** Who may read what: folders and files with secrets are for one user alone, and all belong to the same one. */

import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { REPOSITORY_KINDS } from '../../git/types.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { type Check, describeFailure, type Finding, faultOf, warningOf } from './findings.ts';

interface Guarded {
  path: string;
  /** Of the permission bits those that nobody else may have. */
  forbidden: number;
  /** Whether it must belong to the owner of the data folder. */
  isOwn: boolean;
}

const OTHERS = 0o077;
/** Of a file that the settings name: it may be shared with a group on purpose. */
const STRANGERS = 0o007;
const WINDOWS = process.platform === 'win32';

export async function checkPermissions(config: Config): Promise<Check> {
  const guarded = await listGuarded(config);
  const owner = (await statIfPresent(config.dataDir).catch(() => null))?.uid ?? null;
  const findings: Finding[] = [];
  // Windows has other means, and Node tells nothing of them.
  for (const each of WINDOWS ? [] : guarded) findings.push(...(await look(each, owner)));
  return { name: 'permissions', summary: `${guarded.length} folders and files`, findings };
}

async function listGuarded({ dataDir, reposDir, tls }: Config): Promise<Guarded[]> {
  const secrets = ['hawser.db', 'hawser.db-wal', 'hawser.db-shm', PASSWORD_FILE];
  const keys = ['ca.key', 'server.key'].map((name) => `tls/${name}`);
  const inData = ['', 'tls', ...secrets, ...keys].map((name) => join(dataDir, name));
  const own = [...inData, reposDir].map((path) => ({ path, forbidden: OTHERS, isOwn: true }));
  const repositories = (await listRepositoryFolders(reposDir)).map((path) => {
    // What is in there is guarded by the folder above.
    return { path, forbidden: 0, isOwn: true };
  });
  const given = tls.keyFile === null ? [] : [{ path: tls.keyFile, forbidden: STRANGERS, isOwn: false }];
  return [...own, ...repositories, ...given];
}

async function listRepositoryFolders(reposDir: string): Promise<string[]> {
  const kinds = REPOSITORY_KINDS.map((kind) => join(reposDir, kind));
  const lists = await Promise.all(
    kinds.map(async (kind) => (await readdir(kind).catch(() => [])).map((name) => join(kind, name))),
  );
  return [...kinds, ...lists.flat()];
}

async function look({ path, forbidden, isOwn }: Guarded, owner: number | null): Promise<Finding[]> {
  try {
    const stats = await statIfPresent(path);
    if (stats === null) return [];
    return [...faultsOfMode(path, stats, forbidden), ...(isOwn ? faultsOfOwner(path, stats, owner) : [])];
  } catch (error) {
    return [
      faultOf(path, `cannot be looked at: ${describeFailure(error)}`, 'run this as the user of the server'),
    ];
  }
}

function faultsOfMode(path: string, stats: Stats, forbidden: number): Finding[] {
  const mode = stats.mode & 0o777;
  if ((mode & forbidden) === 0) return [];
  const what = `other users of this machine may use it (mode ${mode.toString(8).padStart(4, '0')})`;
  if (stats.isDirectory()) return [warningOf(path, what, `chmod 0700 ${path}`)];
  const remedy = `chmod 0600 ${path}; whoever could read it may know what it holds`;
  return [faultOf(path, what, remedy)];
}

function faultsOfOwner(path: string, stats: Stats, owner: number | null): Finding[] {
  if (owner === null || stats.uid === owner) return [];
  const what = `it belongs to user ${stats.uid}, and the data folder to user ${owner}`;
  return [faultOf(path, what, `chown -R ${owner} ${path}; the server may not be able to use it`)];
}

async function statIfPresent(path: string): Promise<Stats | null> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}
