/** Makes one archive of everything that a server needs to be what it was, while it may go on serving. */

import { link, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { forgetDeleted, type Snapshot, takeSnapshot } from '../../db/snapshot.ts';
import { gitVersion } from '../../git/git-process.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict, HawserError, internal } from '../../lib/errors.ts';
import { flushFolder } from '../../lib/folders.ts';
import { newId } from '../../lib/ids.ts';
import { readVersion } from '../../lib/version.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { DATABASE_ENTRY, FORMAT } from './manifest.ts';
import { RepositoryCopies } from './repository-copies.ts';
import { refuseUnfinishedRestore } from './restore-folders.ts';

export interface BackupOptions {
  config: Config;
  /** The archive, which must not exist. */
  file: string;
  now: number;
  /** Told the folder of what is unfinished before it is made; it is removed at the end in any case but a kill. */
  onStaging(path: string): void;
}

export interface BackupSummary {
  repositories: number;
  refs: number;
  bytes: number;
}

/** What is made anew between a snapshot and the pass after it is rare; a lost repository stays missing. */
const ROUNDS = 5;
/** Quick, since a database may be large. */
const DATABASE_LEVEL = 1;

/**
 * Holds every write that was acknowledged before the call. Reads only: nothing of the server is locked or changed.
 * @throws HawserError, with nothing left behind, for instance `file_exists`, `repository_damaged`
 */
export async function backUp({ config, file, now, onStaging }: BackupOptions): Promise<BackupSummary> {
  refuseUnfinishedRestore(config);
  const target = resolve(file);
  await refuseExisting(target);
  if ((await gitVersion(config.searchPath)) === null)
    throw new HawserError('unavailable', 'git_missing', 'a backup needs git, which is not installed');
  // Beside the target, so that it can be moved there; a name that nobody takes for an archive.
  const staging = `${target}.${newId()}.partial`;
  onStaging(staging);
  await mkdir(staging, { mode: 0o700 });
  try {
    const unfinished = join(staging, 'archive');
    const counts = await writeArchive(config, { staging, unfinished, now });
    await publish(unfinished, target);
    return { ...counts, bytes: (await stat(target)).size };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function writeArchive(
  config: Config,
  { staging, unfinished, now }: { staging: string; unfinished: string; now: number },
) {
  const archive = new ArchiveWriter(unfinished);
  try {
    const { reposDir, searchPath, dataDir } = config;
    const copies = new RepositoryCopies({ reposDir, searchPath, staging, archive });
    await copies.takePass(null);
    // Before the database: the first password goes from the disk after it has gone from there.
    const firstPassword = await readIfThere(join(dataDir, PASSWORD_FILE));
    const database = join(staging, 'database');
    const snapshot = await takeMatchingSnapshot(dataDir, database, copies);
    await archive.addFile(DATABASE_ENTRY, database, DATABASE_LEVEL);
    if (firstPassword && snapshot.hasFirstPassword)
      await archive.addBuffer(`data/${PASSWORD_FILE}`, firstPassword);
    await addTlsFiles(archive, dataDir);
    const counts = await copies.finish(snapshot);
    const { migration } = snapshot;
    const createdAt = toTimestamp(now);
    await archive.finish({ format: FORMAT, hawser: readVersion(), createdAt, migration, counts });
    return counts;
  } catch (error) {
    await archive.abandon();
    throw error;
  }
}

/** A snapshot, and a pass over the repositories after it, until they match. */
async function takeMatchingSnapshot(
  dataDir: string,
  target: string,
  copies: RepositoryCopies,
): Promise<Snapshot> {
  for (let round = 1; ; round += 1) {
    await rm(target, { force: true });
    const snapshot = await takeSnapshot(dataDir, target);
    await copies.takePass(snapshot);
    const owners = copies.missing(snapshot);
    const [missing] = owners;
    if (missing === undefined) return snapshot;
    // Made and deleted while this runs: they need not be in the archive.
    const settled = forgetDeleted(dataDir, target, { snapshot, owners });
    if (settled !== null) return settled;
    if (round === ROUNDS)
      throw internal('repository_missing', `${missing.kind}/${missing.name} is not on the disk`);
  }
}

/** The authority with its key, which is never made anew, and the server's certificate. */
async function addTlsFiles(archive: ArchiveWriter, dataDir: string): Promise<void> {
  const names = await readdir(join(dataDir, 'tls')).catch(unlessAbsent);
  for (const name of names ?? []) {
    const content = /\.(?:crt|key)$/.test(name) ? await readIfThere(join(dataDir, 'tls', name)) : null;
    if (content) await archive.addBuffer(`data/tls/${name}`, content);
  }
}

function readIfThere(path: string): Promise<Buffer | null> {
  return readFile(path).catch(unlessAbsent);
}

function unlessAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** A link fails where a file is, which a rename would replace. */
async function publish(unfinished: string, target: string): Promise<void> {
  try {
    await link(unfinished, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(target);
    // There are file systems without links.
    await refuseExisting(target);
    await rename(unfinished, target);
  }
  await flushFolder(dirname(target));
}

async function refuseExisting(target: string): Promise<void> {
  if ((await lstat(target).catch(unlessAbsent)) !== null) throw fileExists(target);
}

function fileExists(target: string): HawserError {
  return conflict('file_exists', `${basename(target)} exists already and is not overwritten`);
}
