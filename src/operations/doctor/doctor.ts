/** Looks at everything that the server keeps, and says what is wrong and what to do. Nothing is changed. */

import type { Config } from '../../config.ts';
import { gitVersion } from '../../git/git-process.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { keyFileOf } from '../../security/secrets/key-file.ts';
import { inspectingStore } from '../../versions/inspection.ts';
import { refuseUnfinishedRestore } from '../backup/restore.ts';
import { checkCertificates } from './certificates.ts';
import { openDatabase } from './database.ts';
import { checkDocuments } from './documents.ts';
import { checkDiskSpace, checkLeftOvers, checkPermissions } from './files.ts';
import { type Check, describeFailure, faultOf, type Severity, several, warningOf } from './findings.ts';
import { checkReportSpace } from './report-space.ts';
import { checkRegistry, checkRepositories } from './repositories.ts';
import { checkSecrets } from './secrets.ts';
import { checkSignIn } from './sign-in.ts';

const START =
  'see whether HAWSER_DATA_DIR and HAWSER_REPOS_DIR are those of the server, which makes it at its start';

/**
 * Makes all checks and reports them, as text or as JSON.
 * @returns `isHealthy` is false when there are errors
 * @throws ConfigError when a restore was cut off
 */
export async function diagnose(
  config: Config,
  now: number,
  asJson: boolean,
): Promise<{ report: string; isHealthy: boolean; findings: Record<Severity, number> }> {
  refuseUnfinishedRestore(config);
  const checks = await examine({ config, now, progress: showProgress });
  const report = asJson ? formatJson(checks, now) : formatText(checks);
  const findings = {
    error: count(checks, 'error'),
    warning: count(checks, 'warning'),
    information: count(checks, 'information'),
  };
  return { report, isHealthy: findings.error === 0, findings };
}

export interface Examination {
  config: Config;
  now: number;
  /** Called before each repository, and after the last. */
  progress(done: number, all: number): void;
}

/** Makes all checks, one after the other. */
export async function examine(examination: Examination): Promise<Check[]> {
  const { config, now } = examination;
  const { dataDir, reposDir, searchPath } = config;
  const [database, checkOfDatabase] = await openDatabase(config, now);
  const reader = database?.repositories ?? null;
  const store = inspectingStore(reposDir, reader);
  const db = database?.read ?? null;
  const isAway = config.databaseUrl !== null && reader === null;
  const [rows, repositories] = ['rows and repositories', 'repositories'];
  try {
    return [
      { name: 'settings', summary: `data in ${dataDir}, repositories in ${reposDir}`, findings: [] },
      checkOfDatabase,
      isAway || db === null
        ? withoutDatabase(rows)
        : await attempt(rows, reposDir, () => checkRegistry(db, store, reader !== null)),
      isAway
        ? withoutDatabase(repositories)
        : await attempt(repositories, reposDir, () =>
            checkRepositories({ ...examination, root: reposDir, store, reader }),
          ),
      isAway || db === null
        ? withoutDatabase('documents')
        : await attempt('documents', reposDir, () => checkDocuments(config)),
      await attempt('secrets', keyFileOf(config), () => checkSecrets(config, database)),
      await attempt('permissions', dataDir, () => checkPermissions(config)),
      await checkDiskSpace([dataDir, reposDir]),
      await attempt('room for reports', dataDir, () => checkReportSpace(config, db, now)),
      await attempt('certificates', dataDir, () => checkCertificates(config, db, now)),
      await attempt('left-overs', dataDir, () => checkLeftOvers(config, db, now)),
      await attempt('sign-in', config.oidcFile ?? dataDir, () => checkSignIn(config, db)),
      await checkGit(searchPath),
    ];
  } finally {
    await store.close();
    await database?.close();
  }
}

/** The check of the database says what is wrong with it. */
function withoutDatabase(name: string): Check {
  return { name, summary: 'not looked at, for want of a database', findings: [] };
}

/** A check that cannot be made must not prevent the others. */
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

function formatJson(checks: readonly Check[], now: number): string {
  const [errors, warnings] = [count(checks, 'error'), count(checks, 'warning')];
  const document = { examinedAt: toTimestamp(now), healthy: errors === 0, errors, warnings, checks };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function formatText(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap((check) => [
    `${worstOf(check).padEnd(7)}  ${check.name.padEnd(width)}  ${check.summary}`,
    ...check.findings.flatMap(({ severity, where, what, remedy }) => [
      `  ${severity}: ${where}: ${what}`,
      ...(remedy === null ? [] : [`    -> ${remedy}`]),
    ]),
  ]);
  const errors = several(count(checks, 'error'), 'error');
  return [...lines, '', `${errors}, ${several(count(checks, 'warning'), 'warning')}`, ''].join('\n');
}

function worstOf(check: Check): string {
  return count([check], 'error') > 0 ? 'ERROR' : count([check], 'warning') > 0 ? 'warning' : 'ok';
}

function count(checks: readonly Check[], wanted: Severity): number {
  return checks.flatMap(({ findings }) => findings).filter(({ severity }) => severity === wanted).length;
}

/** Writes one line over and over, and removes it at the end. Writes nothing unless stderr is a terminal. */
function showProgress(done: number, all: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(done === all ? '\r\x1b[K' : `\rrepository ${done + 1} of ${all}\x1b[K`);
}
