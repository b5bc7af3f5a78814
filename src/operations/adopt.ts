/** `hawser adopt`: takes the versions of a repository or a bundle from outside, beside a running server or without one. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import { noteRefsMoved } from '../db/repository-rows.ts';
import { gitVersion } from '../git/git-process.ts';
import { TagSource } from '../git/tag-source.ts';
import { isRepositoryKind, type RepositoryRef } from '../git/types.ts';
import { UsageError } from '../lib/command-words.ts';
import { HawserError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { type AdoptTools, adoptVersion, groupTags, requireOwner, type TagGroup } from '../versions/adopt.ts';
import { admissionBy } from '../versions/outside-tags.ts';
import { GitStore } from '../versions/store.ts';
import { refuseUnfinishedRestore } from './backup/restore.ts';
import { describeFailure } from './doctor/findings.ts';
import { requirePresentForm } from './present-form.ts';

export interface Adoption {
  config: Config;
  /** Such as `configurations/web`. */
  target: string;
  /** The path of a repository or a bundle. */
  path: string;
  now: number;
  /** Is given one line for each tag, and why it was not taken. */
  tell(line: string): void;
}

const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Takes all tags that are versions. One that cannot be taken does not keep the others from it.
 * @returns whether all tags that are named like versions were taken, or were there already
 * @throws UsageError; HawserError where nothing can be taken at all
 */
export async function adopt({ config, target, path, now, tell }: Adoption): Promise<boolean> {
  const repository = parseTarget(target);
  refuseUnfinishedRestore(config);
  const { searchPath } = config;
  if ((await gitVersion(searchPath)) === null)
    throw new HawserError('unavailable', 'git_missing', 'the tags are read by git, which is not installed');
  await requirePresentForm(config);
  const folder = await mkdtemp(join(tmpdir(), 'hawser-adopt-'));
  try {
    const objects = join(folder, 'objects.git');
    await mkdir(objects);
    const source = await TagSource.open(path, objects, searchPath).catch((error: unknown) => {
      throw error instanceof HawserError ? new Error(`${path}: ${describeFailure(error)}`) : error;
    });
    const database = await openDatabase(config);
    // With PostgreSQL the folder of repositories is the cache of a server, which need not be on this machine.
    const root = database.repositories === null ? config.reposDir : join(folder, 'cache');
    const store = openStore(database, root, now);
    try {
      return await adoptAll({ database, store, now }, repository, { source, tell });
    } finally {
      await store.close();
      await database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function parseTarget(target: string): RepositoryRef {
  const [kind = '', name = '', ...rest] = target.split('/');
  if (isRepositoryKind(kind) && name !== '' && rest.length === 0) return { kind, name };
  throw new UsageError(`adopt: "${target}" is none of configurations/NAME, composites/NAME, parameters/NAME`);
}

function openStore(database: Database, root: string, now: number): GitStore {
  const { repositories, locks } = database;
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes: CACHE_BYTES,
    locks,
    ...(repositories && { shared: { reader: repositories, tables: repositories } }),
    onRefsMoved: (ref, _isAwaited, trx = database.write) => noteRefsMoved(trx, ref, now),
    beforeWrite: () => database.requireWritable(),
    admit: admissionBy(database, () => now),
  });
}

async function adoptAll(
  tools: AdoptTools,
  repository: RepositoryRef,
  { source, tell }: { source: TagSource; tell: Adoption['tell'] },
): Promise<boolean> {
  const annotated = source.tags.filter(({ isAnnotated }) => isAnnotated);
  const { groups, others } = groupTags(repository.kind, annotated);
  const lightweight = source.tags.filter(({ isAnnotated }) => !isAnnotated);
  const named = groupTags(repository.kind, lightweight);
  for (const name of [...others, ...named.others]) tell(`${name}: passed over, it is named like no version`);
  for (const { name } of named.groups.flat()) tell(`${name}: passed over, it is a lightweight tag`);
  let isAll = named.groups.length === 0;
  if (groups.length === 0) return isAll;
  const owner = await requireOwner(tools, repository);
  for (const group of groups) {
    const load = () => source.objectsOf(group.map(({ oid }) => oid));
    try {
      const taken = new Set(await adoptVersion(tools, owner, { group, load }));
      for (const { name } of group) tell(`${name}: ${taken.has(name) ? 'taken' : 'there already'}`);
    } catch (error) {
      // Whatever is wrong with the database or the disk is wrong for all.
      if (!isOfTag(error)) throw error;
      isAll = false;
      tellRefused(group, error, tell);
    }
  }
  return isAll;
}

const OF_ONE_TAG = ['conflict', 'invalid'];

function isOfTag(error: unknown): error is HawserError {
  return (
    error instanceof HawserError && (OF_ONE_TAG.includes(error.kind) || error.code === 'repository_damaged')
  );
}

function tellRefused(group: TagGroup, error: HawserError, tell: Adoption['tell']): void {
  for (const { name } of group) tell(`${name}: refused, ${describeFailure(error)}`);
}
