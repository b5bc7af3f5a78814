/** What an archive takes from an SQLite database and the folders beside it, which are not of one moment by themselves. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { sqliteBackupSource } from '../../db/sqlite/backup-source.ts';
import { type BackupSource, forgetDeleted, type Snapshot, takeSnapshot } from '../../db/sqlite/snapshot.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { internal } from '../../lib/errors.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { type ArchiveWriter, DATABASE_ENTRY, DATABASE_LEVEL } from './archive.ts';
import { RepositoryCopies } from './repository-copies.ts';
import type { Added, ArchiveParts } from './repository-entries.ts';

/** A repository that was made anew between a snapshot and the pass after it is rare. A lost one stays missing. */
const ROUNDS = 5;

export async function addFromFolders(config: Config, { archive, staging }: ArchiveParts): Promise<Added> {
  const { reposDir, searchPath, dataDir } = config;
  const copies = new RepositoryCopies({ reposDir, searchPath, staging, archive });
  const source = sqliteBackupSource(dataDir);
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
  return { counts: await copies.finish(snapshot), migration: snapshot.migration };
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
