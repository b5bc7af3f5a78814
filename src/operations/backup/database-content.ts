/** What an archive takes from PostgreSQL: all of one moment, so nothing has to be compared or looked at twice. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { atOneMoment, type DatabaseMoment } from '../../db/backup-source.ts';
import type { StoredObject, StoredRefs } from '../../db/git-tables.ts';
import { type Snapshot, takeSnapshot } from '../../db/sqlite/snapshot.ts';
import { AtomicFs } from '../../git/atomic-fs.ts';
import { packReachable, peelRefs, readRepositoryState } from '../../git/repository-export.ts';
import { writeStoredRepository } from '../../git/stored-repository.ts';
import { HawserError, internal } from '../../lib/errors.ts';
import { PASSWORD_FILE } from '../../security/built-ins.ts';
import { DATABASE_ENTRY, DATABASE_LEVEL } from './archive.ts';
import { type Added, type ArchiveParts, addNotes, addPack, explain, keyOf } from './repository-entries.ts';

type Source = Pick<Config, 'searchPath'> & { databaseUrl: string };

export function addFromDatabase({ databaseUrl, searchPath }: Source, parts: ArchiveParts): Promise<Added> {
  return atOneMoment(databaseUrl, async (moment) => {
    const { archive, staging } = parts;
    const database = join(staging, 'database');
    // All changes are in the copy, so none has to be looked for among its audit entries.
    const snapshot = await takeSnapshot(moment, database, Number.MAX_SAFE_INTEGER);
    await archive.addFile(DATABASE_ENTRY, database, DATABASE_LEVEL);
    await addSecrets(moment, parts, snapshot);
    const counts = await addRepositories(moment, { ...parts, searchPath }, snapshot);
    return { counts, migration: snapshot.migration };
  });
}

/**
 * Adds the authority and the first password as the files that they are without PostgreSQL. The keys of session tickets
 * are left out, as sessions are: servers make others.
 */
async function addSecrets(
  { secret }: DatabaseMoment,
  { archive }: ArchiveParts,
  { hasFirstPassword }: Snapshot,
): Promise<void> {
  for (const name of ['ca.crt', 'ca.key'] as const) {
    const content = await secret(name);
    if (content) await archive.addBuffer(`data/tls/${name}`, content);
  }
  const password = hasFirstPassword ? await secret('first-password') : null;
  if (password) await archive.addBuffer(`data/${PASSWORD_FILE}`, Buffer.from(`${password}\n`));
}

async function addRepositories(
  { repositories }: DatabaseMoment,
  parts: ArchiveParts & Pick<Source, 'searchPath'>,
  { owners }: Snapshot,
): Promise<Added['counts']> {
  const all = await repositories.list();
  const known = new Set(all.map(keyOf));
  const lost = owners.find((owner) => !known.has(keyOf(owner)));
  if (lost !== undefined)
    throw internal('repository_missing', `${keyOf(lost)} has a row and no repository in the database`);
  const counts = { repositories: all.length, refs: 0 };
  for (const name of all) {
    const stored = await repositories.refs(name);
    if (stored === undefined) continue;
    const { id } = stored.repository;
    const objects = repositories.readObjects(id, [...(await repositories.objectTypes(id)).keys()]);
    counts.refs += await addRepository(parts, stored, objects);
  }
  return counts;
}

/** Has stock git pack the repository from a folder. Returns the number of its refs. */
async function addRepository(
  parts: ArchiveParts & Pick<Source, 'searchPath'>,
  stored: StoredRefs,
  objects: AsyncIterable<readonly StoredObject[]>,
): Promise<number> {
  const { staging, searchPath } = parts;
  const { repository, refs } = stored;
  const gitdir = join(staging, 'repository');
  try {
    await writeStoredRepository(gitdir, stored, objects);
    const source = { gitdir, searchPath };
    const state = await readRepositoryState(new AtomicFs(), gitdir);
    const hash = refs.size === 0 ? null : await packReachable(source, staging, refs.values(), []);
    if (state === null) throw new Error(`${gitdir} was removed`);
    if (hash !== null) await addPack(parts, repository, hash);
    const notes = { files: state.files, refs: await peelRefs(source, refs), shallow: repository.shallow };
    return await addNotes(parts, repository, notes);
  } catch (error) {
    throw error instanceof HawserError && error.code === 'repository_damaged'
      ? explain(repository, error)
      : error;
  } finally {
    await rm(gitdir, { recursive: true, force: true });
  }
}
