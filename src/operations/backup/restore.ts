/**
 * Brings the content of an archive into two empty folders, and into an empty PostgreSQL database if there is one: all of
 * it or nothing. A file marks the folders until that is done, and no server starts on a marked one. Two folders cannot be
 * renamed into place as one, and either may be a mount point, which cannot be renamed at all.
 */

import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Config, ConfigError } from '../../config.ts';
import { LOCK_FILE, PID_FILE } from '../../db/folder-lock.ts';
import { requireEmptyDatabase, restoreToDatabase } from '../../db/restore-target.ts';
import type { SecretName } from '../../db/secrets.ts';
import { DATABASE_FILE } from '../../db/sqlite/open.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { gitVersion } from '../../git/git-process.ts';
import { REPOSITORY_FOLDERS } from '../../git/repository-layout.ts';
import { STORED_KINDS } from '../../git/types.ts';
import { HawserError } from '../../lib/errors.ts';
import { flushFolder, makePrivateFolder } from '../../lib/folders.ts';
import { RUN_RECORD_FILES } from '../../lib/run-record.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { KEY_FILE } from '../../security/secrets/key-file.ts';
import { findMissingKeys } from '../key-state.ts';
import { RELOAD_FILE } from '../reload.ts';
import type { ArchiveReader, Manifest } from './archive.ts';

interface RestoreFolder {
  setting: 'HAWSER_DATA_DIR' | 'HAWSER_REPOS_DIR';
  path: string;
  /** The names of all that a restore makes in it. */
  made: readonly string[];
}

const MARK = '.restoring';
/**
 * What an empty folder may hold: files of a clone, a folder of the file system, one that each start empties, and the files
 * by which servers keep each other out. The folders of a running server hold more.
 */
const NO_CONTENT = [
  ...['.gitkeep', '.gitignore', 'lost+found', '.tmp'],
  ...[LOCK_FILE, PID_FILE, RELOAD_FILE, ...RUN_RECORD_FILES],
];

/** The data folder is the last one: its mark is removed when all is done. */
function foldersOf({ dataDir, reposDir }: Config): RestoreFolder[] {
  return [
    { setting: 'HAWSER_REPOS_DIR', path: reposDir, made: STORED_KINDS },
    {
      setting: 'HAWSER_DATA_DIR',
      path: dataDir,
      made: [DATABASE_FILE, 'tls', PASSWORD_FILE, KEY_FILE],
    },
  ];
}

/** What was restored. */
export interface Restored extends Manifest {
  /** Whether the archive held the keys of secrets, which are in the data folder now. */
  hasKeys: boolean;
  /** The ids of the keys of secrets that something is encrypted by and that the server would not have. */
  missingKeys: readonly string[];
}

/**
 * Restores an archive. A server that is started before it is finished refuses to start, also when the restore was killed.
 * A restore that was killed begins anew when it is run again.
 * @throws HawserError, with the folders as they were: `folder_not_empty`, `database_not_empty`, or what `ArchiveReader` finds
 */
export async function restore(config: Config, file: string): Promise<Restored> {
  // Loaded here because each start of a server loads this module for `refuseUnfinishedRestore`.
  const { ArchiveReader } = await import('./archive.ts');
  const archive = await ArchiveReader.open(file);
  const folders = foldersOf(config);
  try {
    if (config.databaseUrl !== null && (await gitVersion(config.searchPath)) === null)
      throw new HawserError(
        'unavailable',
        'git_missing',
        'PostgreSQL is filled by git, which is not installed',
      );
    await requireEmptyDatabase(config);
    await prepareFolders(folders);
    try {
      await unpack(archive, config);
      if (config.databaseUrl !== null) await fillDatabase(config, config.databaseUrl);
      for (const { path } of folders) await flushTree(path);
    } catch (error) {
      await clearFolders(folders);
      throw error;
    }
    await releaseFolders(folders);
    const hasKeys = archive.manifest.entries.some(({ path }) => path === `data/${KEY_FILE}`);
    return { ...archive.manifest, hasKeys, missingKeys: await findMissingKeys(config) };
  } finally {
    archive.close();
  }
}

async function unpack(archive: ArchiveReader, { dataDir, reposDir }: Config): Promise<void> {
  for (const kind of STORED_KINDS) await makeInnerFolder(join(reposDir, kind));
  for (const entry of archive.manifest.entries) {
    const [root, ...rest] = entry.path.split('/');
    const path = join(root === 'data' ? dataDir : reposDir, ...rest);
    await makeInnerFolder(dirname(path));
    // Every repository has this file. An archive of files cannot hold the folders of a repository that are empty.
    if (path.endsWith('.git/HEAD')) {
      for (const folder of REPOSITORY_FOLDERS) await makeInnerFolder(join(dirname(path), folder));
    }
    await archive.extract(entry, path);
  }
}

/** Brings what was unpacked into PostgreSQL, and leaves in the folders what each server keeps for itself. */
async function fillDatabase({ dataDir, reposDir, searchPath }: Config, databaseUrl: string): Promise<void> {
  const { readRepositories } = await import('../../git/stored-repository.ts');
  const secrets = new Map<SecretName, Buffer>();
  for (const name of ['ca.crt', 'ca.key'] as const) {
    const content = await unlessAbsent(readFile(join(dataDir, 'tls', name)), null);
    if (content) secrets.set(name, content);
  }
  const password = await unlessAbsent(readFile(join(dataDir, PASSWORD_FILE), 'utf8'), null);
  if (password !== null) secrets.set('first-password', Buffer.from(password.trimEnd()));
  const repositories = readRepositories(reposDir, searchPath);
  await restoreToDatabase(databaseUrl, { file: join(dataDir, DATABASE_FILE), repositories, secrets });
  for (const kind of STORED_KINDS) await rm(join(reposDir, kind), { recursive: true, force: true });
  await rm(join(dataDir, 'tls/ca.key'), { force: true });
}

/** Makes a folder, and those above it that are absent, for their owner alone. */
async function makeInnerFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** @throws ConfigError when a restore into one of the folders was cut off */
export function refuseUnfinishedRestore(config: Config): void {
  for (const { setting, path } of foldersOf(config)) {
    if (existsSync(join(path, MARK)))
      throw new ConfigError(setting, 'a restore into it was cut off', 'to run "hawser restore" again first');
  }
}

/**
 * Makes the folders, marks them, and removes what a restore that was cut off has left there.
 * @throws HawserError `folder_not_empty`, with nothing changed
 */
async function prepareFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const folder of folders) await refuseContent(folder);
  for (const folder of folders) {
    await makePrivateFolder(folder.path);
    await (await open(join(folder.path, MARK), 'w', 0o600)).close();
    await flushFolder(folder.path);
    await removeMade(folder);
  }
}

/** Removes the marks, so that a server may start. */
async function releaseFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const { path } of folders) {
    await rm(join(path, MARK));
    await flushFolder(path);
  }
}

/** Empties the folders after a failure, and removes those that can be removed. */
async function clearFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const folder of folders) {
    await removeMade(folder);
    await rm(join(folder.path, MARK), { force: true });
    await rmdir(folder.path).catch(() => undefined);
  }
}

async function refuseContent({ setting, path, made }: RestoreFolder): Promise<void> {
  const names = existsSync(path) ? await readdir(path) : [];
  const isMarked = names.includes(MARK);
  const foreign = names.find(
    (name) => !NO_CONTENT.includes(name) && !(isMarked && (name === MARK || made.includes(name))),
  );
  if (foreign === undefined) return;
  const message = `${setting}: ${path} is not empty ("${foreign}"); a restore goes into empty folders only`;
  throw new HawserError('conflict', 'folder_not_empty', message);
}

async function removeMade({ path, made }: RestoreFolder): Promise<void> {
  for (const name of made) await rm(join(path, name), { recursive: true, force: true });
}

/** Flushes a folder and all below it. */
async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushTree(join(path, entry.name));
  }
  await flushFolder(path);
}
