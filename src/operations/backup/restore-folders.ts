/**
 * The two folders that a restore fills. A file marks them until it is done, and no server starts on a marked one: two
 * folders cannot be renamed into place as one, and either may be a mount point that cannot be renamed at all.
 */

import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError } from '../../config.ts';
import { DATABASE_FILE } from '../../db/open.ts';
import { REPOSITORY_KINDS } from '../../git/types.ts';
import { HawserError } from '../../lib/errors.ts';
import { flushFolder, makePrivateFolder } from '../../lib/folders.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';

export interface RestoreFolder {
  setting: 'HAWSER_DATA_DIR' | 'HAWSER_REPOS_DIR';
  path: string;
  /** Everything in it that a restore makes. */
  made: readonly string[];
}

const MARK = '.restoring';
/** What an empty folder may hold: that of a clone, a file system's own, and what each start of a server empties. */
const NO_CONTENT = ['.gitkeep', '.gitignore', 'lost+found', '.tmp'];

/** The data folder last: its mark goes when all is done. */
export function foldersOf({ dataDir, reposDir }: Config): RestoreFolder[] {
  return [
    { setting: 'HAWSER_REPOS_DIR', path: reposDir, made: REPOSITORY_KINDS },
    {
      setting: 'HAWSER_DATA_DIR',
      path: dataDir,
      made: [DATABASE_FILE, 'tls', PASSWORD_FILE],
    },
  ];
}

/** @throws ConfigError when a restore into one of the folders was cut off */
export function refuseUnfinishedRestore(config: Config): void {
  for (const { setting, path } of foldersOf(config)) {
    if (existsSync(join(path, MARK)))
      throw new ConfigError(setting, 'a restore into it was cut off', 'to run "hawser restore" again first');
  }
}

/**
 * Makes the folders and marks them; what a restore that was cut off has left there is removed first.
 * @throws HawserError `folder_not_empty`, with nothing changed
 */
export async function prepareFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const folder of folders) await refuseContent(folder);
  for (const folder of folders) {
    await makePrivateFolder(folder.path);
    await (await open(join(folder.path, MARK), 'w', 0o600)).close();
    await flushFolder(folder.path);
    await removeMade(folder);
  }
}

/** Gives the folders free. */
export async function releaseFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const { path } of folders) {
    await rm(join(path, MARK));
    await flushFolder(path);
  }
}

/** After a fault: the folders as they were, or gone where they would be empty. */
export async function clearFolders(folders: readonly RestoreFolder[]): Promise<void> {
  for (const folder of folders) {
    await removeMade(folder);
    await rm(join(folder.path, MARK), { force: true });
    await rmdir(folder.path).catch(() => undefined);
  }
}

async function refuseContent({ setting, path, made }: RestoreFolder): Promise<void> {
  const names: string[] = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
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

/** Makes a folder, and those above it that are absent, for their owner alone. */
export async function makeInnerFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Flushes a folder and all below it. */
export async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushTree(join(path, entry.name));
  }
  await flushFolder(path);
}
