/** Makes one archive of everything that a server needs to be what it was, while it may go on serving. */

import { link, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { openBackupSource } from '../../db/backup-source.ts';
import { type BackupSource, forgetDeleted, type Snapshot, takeSnapshot } from '../../db/sqlite/snapshot.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { gitVersion } from '../../git/git-process.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict, HawserError, internal } from '../../lib/errors.ts';
import { flushFolder } from '../../lib/folders.ts';
import { newId } from '../../lib/ids.ts';
import { readVersion } from '../../lib/version.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { ArchiveWriter, DATABASE_ENTRY, FORMAT } from './archive.ts';
import { RepositoryCopies } from './repository-copies.ts';
import { refuseUnfinishedRestore } from './restore.ts';

export interface BackupOptions {
  config: Config;
  /** The archive, which must not exist. */
  file: string;
  now: number;
  /** Called with the folder of unfinished files before it is made. It is removed at the end, unless the program is killed. */
  onStaging(path: string): void;
}

export interface BackupSummary {
  repositories: number;
  refs: number;
  bytes: number;
}

/** A repository that was made anew between a snapshot and the pass after it is rare. A lost one stays missing. */
const ROUNDS = 5;
/** The lowest level of deflate, since a database may be large. */
const DATABASE_LEVEL = 1;

/**
 * Makes an archive that holds every write that was acknowledged before the call. Nothing of the server is locked or
 * changed.
 * @throws HawserError, with nothing left behind, for instance `file_exists`, `repository_damaged`
 */
export async function backUp({ config, file, now, onStaging }: BackupOptions): Promise<BackupSummary> {
  refuseUnfinishedRestore(config);
  const target = resolve(file);
  await refuseExisting(target);
  if ((await gitVersion(config.searchPath)) === null)
    throw new HawserError('unavailable', 'git_missing', 'a backup needs git, which is not installed');
  // It is beside the target, so that the archive can be moved there. Nobody takes its name for that of an archive.
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
    const source = openBackupSource(config);
    const since = await source.newestAuditEntry();
    await copies.takePass(null);
    if (source.isInUse()) await copies.settle();
    // Read before the database: a changed password is in the database before its file is removed.
    const firstPassword = await unlessAbsent(readFile(join(dataDir, PASSWORD_FILE)), null);
    const database = join(staging, 'database');
    const snapshot = await takeMatchingSnapshot(source, database, { copies, since });
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

/** Takes a snapshot, and a pass over the repositories after it, until they match. */
async function takeMatchingSnapshot(
  source: BackupSource,
  target: string,
  { copies, since }: { copies: RepositoryCopies; since: number },
): Promise<Snapshot> {
  for (let round = 1; ; round += 1) {
    await rm(target, { force: true });
    const snapshot = await takeSnapshot(source, target, since);
    await copies.takePass(snapshot);
    const owners = copies.missing(snapshot);
    const [missing] = owners;
    if (missing === undefined) return snapshot;
    // What was made and deleted meanwhile need not be in the archive.
    const reduced = await forgetDeleted(source, target, { snapshot, owners });
    if (reduced !== null) return reduced;
    if (round === ROUNDS)
      throw internal('repository_missing', `${missing.kind}/${missing.name} is not on the disk`);
  }
}

/** Adds the authority with its key, which is never made anew, and the server's certificate. */
async function addTlsFiles(archive: ArchiveWriter, dataDir: string): Promise<void> {
  const folder = join(dataDir, 'tls');
  const names = await unlessAbsent(readdir(folder), []);
  for (const name of names.filter((each) => /\.(?:crt|key)$/.test(each))) {
    const content = await unlessAbsent(readFile(join(folder, name)), null);
    if (content) await archive.addBuffer(`data/tls/${name}`, content);
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
