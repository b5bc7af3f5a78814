/** All checks, one after the other. Nothing is changed: not a file, not a folder, not a row. */

import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { type InspectedDatabase, inspectDatabase } from '../../db/inspection.ts';
import { DATABASE_FILE } from '../../db/open.ts';
import { gitVersion } from '../../git/git-process.ts';
import { readOnlyStore } from '../../git/inspection.ts';
import type { GitStore } from '../../git/store.ts';
import { checkCertificates } from './certificates.ts';
import { checkDatabase } from './database.ts';
import { checkDiskSpace } from './disk-space.ts';
import { type Check, describeFailure, type Finding, faultOf, warningOf } from './findings.ts';
import { checkLeftOvers } from './left-overs.ts';
import { checkPermissions } from './permissions.ts';
import { checkRegistry } from './registry.ts';
import { checkRepositories } from './repositories.ts';

export interface Examination {
  config: Config;
  now: number;
  /** Called before each repository, and after the last. */
  progress(done: number, all: number): void;
}

const START =
  'see whether HAWSER_DATA_DIR and HAWSER_REPOS_DIR are those of the server, which makes it at its start';

export async function examine(examination: Examination): Promise<Check[]> {
  const { config, now } = examination;
  const { dataDir, reposDir, searchPath } = config;
  const [database, checkOfDatabase] = openDatabase(dataDir);
  const store = readOnlyStore(reposDir);
  const db = database?.read ?? null;
  try {
    return [
      { name: 'settings', summary: `data in ${dataDir}, repositories in ${reposDir}`, findings: [] },
      checkOfDatabase,
      await attempt('rows and repositories', reposDir, async () => compare(database, store)),
      await attempt('repositories', reposDir, () =>
        checkRepositories({ ...examination, root: reposDir, store }),
      ),
      await attempt('permissions', dataDir, () => checkPermissions(config)),
      await checkDiskSpace([dataDir, reposDir]),
      await attempt('certificates', dataDir, () => checkCertificates(config, db, now)),
      await attempt('left-overs', dataDir, () => checkLeftOvers(config, db, now)),
      await checkGit(searchPath),
    ];
  } finally {
    await store.close();
    await database?.close();
  }
}

function openDatabase(dataDir: string): [InspectedDatabase | null, Check] {
  const file = join(dataDir, DATABASE_FILE);
  const failed = (finding: Finding): [null, Check] => {
    return [null, { name: 'database', summary: file, findings: [finding] }];
  };
  try {
    const database = inspectDatabase(dataDir);
    return database === null
      ? failed(faultOf(file, 'there is none', START))
      : [database, checkDatabase(file, database)];
  } catch (error) {
    return failed(faultOf(file, `cannot be opened: ${describeFailure(error)}`, START));
  }
}

async function compare(database: InspectedDatabase | null, store: GitStore): Promise<Check> {
  if (database !== null) return checkRegistry(database.read, store);
  return { name: 'rows and repositories', summary: 'not compared, for want of a database', findings: [] };
}

/** One check that cannot be made must not keep the others from being made. */
async function attempt(name: string, where: string, check: () => Promise<Check>): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    const finding = faultOf(where, `could not be looked at: ${describeFailure(error)}`, START);
    return { name, summary: 'cut off', findings: [finding] };
  }
}

async function checkGit(searchPath: string): Promise<Check> {
  const version = await gitVersion(searchPath);
  if (version !== null) return { name: 'git', summary: `git ${version}`, findings: [] };
  const remedy = 'install git: without it nobody can clone, and repositories are never repacked';
  return { name: 'git', summary: 'none', findings: [warningOf('PATH', 'there is no git', remedy)] };
}
