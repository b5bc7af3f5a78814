/** Checks that an import that was killed came to the end of one that was not. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Config } from '../../../../src/config.ts';
import { REPOSITORY_KINDS } from '../../../../src/git/types.ts';
import { examine } from '../../../../src/operations/doctor/doctor.ts';
import type { ImportReport } from '../../../../src/operations/import-opendsc/kinds.ts';
import { verifyPassword } from '../../../../src/security/passwords.ts';
import { keyFileOf } from '../../../../src/security/secrets/key-file.ts';
import { openPlace } from '../../engines/both.ts';
import { checkDatabase } from '../checks.ts';
import { git } from '../repository-checks.ts';
import { type Ending, leftOvers, readEnding } from './ending.ts';
import type { Importing } from './importing.ts';
import { SOURCE_PASSWORD } from './site.ts';

/** An import that nothing disturbed. */
export interface Reference {
  report: ImportReport;
  ending: Ending;
  /** The time before all imports that are compared with it. */
  since: number;
}

/** @param cuts how many of the deaths before were power cuts */
export async function checkEnd(
  importing: Importing,
  reference: Reference,
  { report, cuts }: { report: ImportReport; cuts: number },
): Promise<void> {
  const { config } = importing;
  expect(outcomeOf(report), 'what has become of each kind').to.deep.equal(outcomeOf(reference.report));
  const { rows, refs, entries } = await readEnding(config, reference.since);
  expect(rows, 'rows').to.deep.equal(reference.ending.rows);
  expect(refs, 'refs').to.deep.equal(reference.ending.refs);
  checkEntries(entries, reference.ending.entries, cuts);
  await checkAdmin(config);
  if (config.databaseUrl === null) await checkRepositories(config);
  await checkHealth(config);
  const again = await importing.run();
  const imported = again.kinds.filter((kind) => kind.imported > 0);
  expect(imported, 'imported by one more run').to.deep.equal([]);
  expect(outcomeOf(again), 'by one more run').to.deep.equal(outcomeOf(reference.report));
}

/** What is the same whether a thing was imported by this run or by one before. */
function outcomeOf({ kinds, nodesAwaiting, notCarried }: ImportReport): object {
  const outcomes = kinds.map(({ kind, found, imported, alreadyThere, conflicts, leftOut }) => {
    expect(imported + alreadyThere + conflicts.length + leftOut.length, kind).to.equal(found);
    return { kind, found, isHere: imported + alreadyThere, conflicts, leftOut };
  });
  return { outcomes, nodesAwaiting, notCarried };
}

/** The site has two configurations, whose versions are written at once. */
const REPOSITORIES_AT_ONCE = 2;

/**
 * Each change has one entry. The note that tells of an entry is not flushed, so each power cut may take that of one version of
 * each repository.
 * Until the file with the first password of `admin` is gone, each run sets the one of the source.
 */
function checkEntries(found: readonly string[], expected: readonly string[], cuts: number): void {
  const missing = without(expected, found);
  const more = without(found, expected).filter((entry) => !entry.startsWith('password.reset '));
  expect(more, 'audit entries that come twice').to.deep.equal([]);
  const lost = missing.filter((entry) => /^\S+\.(?:version_|schema_)/.test(entry));
  expect(without(missing, lost), 'audit entries that are missing').to.deep.equal([]);
  expect(lost.length, `audit entries that are missing, such as ${lost[0]}`).to.be.at.most(
    cuts * REPOSITORIES_AT_ONCE,
  );
}

/** Those of the first list that are not in the second. One that is there twice must be there twice. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

async function checkAdmin(config: Config): Promise<void> {
  const place = await openPlace(config);
  try {
    const [admin] = await place.all<{ hash: string }>(
      `select password_hash as hash from users where username = 'admin'`,
    );
    const fits = await verifyPassword(SOURCE_PASSWORD, admin?.hash ?? null, 'test');
    expect(fits, 'whether admin has the password of the source').to.equal(true);
    await checkDatabase(place);
  } finally {
    await place.close();
  }
  expect(leftOvers(config), 'left over').to.deep.equal([]);
}

async function checkRepositories({ reposDir }: Config): Promise<void> {
  for (const kind of REPOSITORY_KINDS)
    for (const name of readdirSync(join(reposDir, kind)))
      await git(join(reposDir, kind, name), 'fsck', '--strict', '--no-dangling', '--no-progress');
}

/** What `hawser doctor` finds. */
async function checkHealth(config: Config): Promise<void> {
  // Of PostgreSQL the doctor wants the file with the keys to be named, because all servers need it.
  const named = { ...config, secretsKeyFile: keyFileOf(config) };
  const checks = await examine({ config: named, now: Date.now(), progress: () => undefined });
  const findings = checks.flatMap(({ name, findings: found }) =>
    found.map((finding) => ({ name, ...finding })),
  );
  // How full the disk of the tests is does not count.
  const faults = findings.filter(({ name, severity }) => name !== 'disk space' && severity !== 'information');
  expect(faults, 'what the doctor finds').to.deep.equal([]);
}
