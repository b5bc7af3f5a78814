/** Makes one archive of everything that a server needs to be what it was, while it may go on serving. */

import { link, lstat, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { gitVersion } from '../../git/git-process.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict, HawserError, notFound } from '../../lib/errors.ts';
import { flushFolder } from '../../lib/folders.ts';
import { newId } from '../../lib/ids.ts';
import { readVersion } from '../../lib/version.ts';
import { KEY_FILE, keyFileOf, requireKeyFile } from '../../security/secrets/key-file.ts';
import { ArchiveWriter, FORMAT } from './archive.ts';
import { addFromDatabase } from './database-content.ts';
import { addFromFolders } from './folder-content.ts';
import { refuseUnfinishedRestore } from './restore.ts';

export interface BackupOptions {
  config: Config;
  /** The archive, which must not exist. */
  file: string;
  now: number;
  /** Whether the archive is to hold the keys of secrets. By default it does not: whoever reads it then reads no secret. */
  withKeys?: boolean;
  /** Called with the folder of unfinished files before it is made. It is removed at the end, unless the program is killed. */
  onStaging(path: string): void;
}

export interface BackupSummary {
  repositories: number;
  refs: number;
  bytes: number;
}

/**
 * Makes an archive that holds every write that was acknowledged before the call. Nothing of the server is locked or
 * changed.
 * @throws HawserError, with nothing left behind, for instance `file_exists`, `repository_damaged`
 */
export async function backUp({
  config,
  file,
  now,
  withKeys,
  onStaging,
}: BackupOptions): Promise<BackupSummary> {
  refuseUnfinishedRestore(config);
  const target = resolve(file);
  await refuseExisting(target);
  if (withKeys === true && (await requireKeyFile(config)) === null)
    throw notFound(`there are no keys to take along: no file ${keyFileOf(config)}`, 'key_file_missing');
  if ((await gitVersion(config.searchPath)) === null)
    throw new HawserError('unavailable', 'git_missing', 'a backup needs git, which is not installed');
  // It is beside the target, so that the archive can be moved there. Nobody takes its name for that of an archive.
  const staging = `${target}.${newId()}.partial`;
  onStaging(staging);
  await mkdir(staging, { mode: 0o700 });
  try {
    const unfinished = join(staging, 'archive');
    const counts = await writeArchive(config, { staging, unfinished, now, withKeys: withKeys === true });
    await publish(unfinished, target);
    return { ...counts, bytes: (await stat(target)).size };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function writeArchive(
  config: Config,
  {
    staging,
    unfinished,
    now,
    withKeys,
  }: { staging: string; unfinished: string; now: number; withKeys: boolean },
) {
  const archive = new ArchiveWriter(unfinished);
  try {
    const parts = { archive, staging };
    const { counts, migration } =
      config.databaseUrl === null
        ? await addFromFolders(config, parts)
        : await addFromDatabase({ ...config, databaseUrl: config.databaseUrl }, parts);
    // Read after the database, so that the key is among them that it names.
    if (withKeys) await archive.addBuffer(`data/${KEY_FILE}`, await readFile(keyFileOf(config)));
    const createdAt = toTimestamp(now);
    await archive.finish({ format: FORMAT, hawser: readVersion(), createdAt, migration, counts });
    return counts;
  } catch (error) {
    await archive.abandon();
    throw error;
  }
}

/** Moves the archive to its place. A link fails where a file exists, which a rename would replace. */
async function publish(unfinished: string, target: string): Promise<void> {
  try {
    await link(unfinished, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(target);
    // The file system may have no links.
    await refuseExisting(target);
    await rename(unfinished, target);
  }
  await flushFolder(dirname(target));
}

async function refuseExisting(target: string): Promise<void> {
  if ((await unlessAbsent(lstat(target), null)) !== null) throw fileExists(target);
}

function fileExists(target: string): HawserError {
  return conflict('file_exists', `${basename(target)} exists already and is not overwritten`);
}
