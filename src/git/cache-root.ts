/**
 * The folder of all caches of a server. A file tells that it is one, so that nobody takes it for the repositories
 * themselves, nor removes repositories as if they were a cache.
 */

import { basename, join, parse } from 'node:path';
import { ConfigError } from '../config.ts';
import { AtomicFs } from './atomic-fs.ts';
import { gitdirOf, nameOfFolder, TEMPORARY } from './repository-layout.ts';
import { STORED_KINDS, type StoredRef } from './types.ts';

/** Its content tells since which start of the machine the cache has been filled. */
const MARK = '.hawser-cache';
/** Linux gives each start of the machine an id of its own. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** The setting that names the folder. */
const SETTING = 'HAWSER_REPOS_DIR';

/**
 * Must be called before anything is changed, in the database too.
 * @param isCache whether the repositories are in PostgreSQL, so that the folder is to be a cache
 * @throws ConfigError if it is the other one
 */
export function refuseOtherUse(root: string, isCache: boolean): void {
  const fs = new AtomicFs();
  if (isMarked(fs, root) === isCache) return;
  if (!isCache)
    throw new ConfigError(
      SETTING,
      'is the cache of a server that keeps its repositories in PostgreSQL',
      'another folder, or HAWSER_DATABASE_URL as before',
    );
  if (!listFolders(fs, root).some((path) => nameOfFolder(basename(path)) !== null)) return;
  throw new ConfigError(
    SETTING,
    'holds repositories, and with HAWSER_DATABASE_URL this folder is only a cache',
    'an empty folder. Bring the repositories into PostgreSQL with "hawser backup" and "hawser restore"',
  );
}

/**
 * Makes the folder a cache. What was filled before the machine was started is removed, because nothing was flushed and a
 * power cut may have spoilt it. So are the folders of repositories that are not there any more.
 */
export async function prepareCache(
  fs: AtomicFs,
  root: string,
  repositories: readonly StoredRef[],
): Promise<void> {
  const mark = fs.readNow(join(root, MARK))?.toString('utf8') ?? '';
  const isTrusted = mark !== '' && mark === bootId(fs);
  const there = new Set(repositories.map((ref) => gitdirOf(root, ref)));
  for (const path of listFolders(fs, root)) if (!isTrusted || !there.has(path)) await fs.discard(path);
  const left = join(root, TEMPORARY);
  for (const { name } of fs.readdirNow(left)) await fs.discard(join(left, name));
  await markCache(fs, root);
}

/** Makes the folder of a repository in the cache, which may have been deleted as a whole. */
export async function makeCacheFolder(fs: AtomicFs, root: string, path: string): Promise<void> {
  if (!isMarked(fs, root)) await markCache(fs, root);
  await fs.makeFoldersBelow(root, path);
}

function isMarked(fs: AtomicFs, root: string): boolean {
  return fs.lstatNow(join(root, MARK)) !== undefined;
}

async function markCache(fs: AtomicFs, root: string): Promise<void> {
  await fs.makeFoldersBelow(parse(root).root, root, 0o700);
  await fs.writeFile(join(root, MARK), bootId(fs));
}

function bootId(fs: AtomicFs): string {
  return fs.readNow(BOOT_ID)?.toString('utf8') ?? '';
}

/** The paths of the repositories' folders. */
function listFolders(fs: AtomicFs, root: string): string[] {
  return STORED_KINDS.flatMap((kind) =>
    fs.readdirNow(join(root, kind)).map(({ name }) => join(root, kind, name)),
  );
}
