// full: SQLite, PostgreSQL
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY, systemClock } from '../../src/lib/clock.ts';
import { UsageError } from '../../src/lib/command-words.ts';
import { archivePath, readKeep, rotate } from '../../src/operations/backup/rotation.ts';
import { readCommandLine } from '../../src/operations/command-line.ts';
import { OPERATIONS } from '../../src/operations/commands.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { readMetrics } from '../support/prometheus.ts';
import { runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const NAME = /^hawser-\d{4}-\d{2}-\d{2}T\d{6}Z\.zip$/;

describe('a folder of backups', () => {
  const hawser = started(() => startHawser({ HAWSER_METRICS_TOKEN: TOKEN }));
  let into: string;

  before(async () => {
    into = join(hawser.folder, 'backups');
    mkdirSync(into);
  });

  const run = (...words: string[]) => runHawser(hawser.folder, settings(), words);
  const settings = (): Record<string, string> =>
    hawser.databaseUrl === null ? {} : { HAWSER_DATABASE_URL: hawser.databaseUrl };
  const metricOf = async (name: string, labels: Record<string, string> = {}) => {
    const { samples = [] } = (await readMetrics(hawser, TOKEN)).get(name) ?? {};
    return samples.find((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;
  };

  it('has the metrics say that there was none yet, and how old the last one is', async () => {
    expect(await metricOf('hawser_backup_age_seconds')).to.equal(Number.POSITIVE_INFINITY);
    const { code, stderr } = await run('backup', '--into', into);
    expect(code, stderr).to.equal(0);
    expect(await metricOf('hawser_backup_age_seconds')).to.be.within(0, Number.MAX_SAFE_INTEGER);
  });

  it('takes several on one day, and keeps what has room, but always the newest', async () => {
    copyFileSync(join(into, String(readdirSync(into)[0])), join(into, 'hawser-2026-01-31.zip'));
    copyFileSync(join(into, 'hawser-2026-01-31.zip'), join(into, 'hawser-2026-02-01.zip'));
    truncateSync(join(into, 'hawser-2026-02-01.zip'), 1_000);
    copyFileSync(join(into, 'hawser-2026-01-31.zip'), join(into, 'before-the-upgrade.zip'));
    // Two archives of one second would have one name.
    await eventually(async () => expect(existsSync(archivePath(into, systemClock.now()))).to.equal(false));
    const { code, stdout, stderr } = await run('backup', '--into', into, '--keep-bytes', '1KiB');
    expect(code, stderr).to.equal(0);
    const [newest = '', ...others] = readdirSync(into).filter((name) => NAME.test(name));
    expect(others).to.deep.equal([]);
    expect(stdout)
      .to.include(newest)
      .and.include(`removed ${join(into, 'hawser-2026-01-31.zip')}`);
    // What was cut off is neither counted nor touched, and nor is what has a name of its own.
    expect(stderr).to.include(`${join(into, 'hawser-2026-02-01.zip')} is no whole archive`);
    expect(readdirSync(into)).to.have.members([newest, 'hawser-2026-02-01.zip', 'before-the-upgrade.zip']);
  });

  it('keeps archives for some days', async () => {
    const now = systemClock.now();
    const [newest = ''] = readdirSync(into).filter((name) => NAME.test(name));
    const older = archivePath(into, now + DAY);
    copyFileSync(join(into, newest), older);
    const { removed } = await rotate(into, { days: 2, bytes: null }, now + DAY);
    expect(removed).to.deep.equal([]);
    // Both are of the same moment, so one of them stays.
    expect((await rotate(into, { days: 2, bytes: null }, now + 3 * DAY)).removed).to.have.length(1);
    expect((await rotate(into, { days: 2, bytes: null }, now + 300 * DAY)).removed).to.deep.equal([]);
  });

  it('refuses options that do not fit together, before it begins', async () => {
    const read = (...words: string[]) => readCommandLine(OPERATIONS, ['backup', ...words]);
    expect(() => read()).to.throw(UsageError, '<file> is missing');
    expect(() => read('--into', '.', 'file.zip')).to.throw(UsageError, 'one argument too many');
    for (const days of ['0', '-1', 'all', '36501'])
      expect(() => readKeep(days, undefined)).to.throw(UsageError, `"${days}" is no number`);
    expect(() => readKeep(undefined, 'much')).to.throw(UsageError, '"much" is no size');
    const { code, stderr } = await run('backup', join(into, 'file.zip'), '--keep-days', '3');
    expect(code).to.equal(64);
    expect(stderr).to.include('need --into');
    expect(readdirSync(into)).to.not.include('file.zip');
  });

  it('has the metrics say what the doctor has found, if it is told to', async () => {
    expect(await metricOf('hawser_doctor_age_seconds')).to.equal(Number.POSITIVE_INFINITY);
    const { stdout } = await run('doctor', '--record', '--json');
    const { warnings } = JSON.parse(stdout);
    expect(await metricOf('hawser_doctor_findings', { severity: 'warning' })).to.equal(warnings);
    expect(await metricOf('hawser_doctor_age_seconds')).to.be.within(0, Number.MAX_SAFE_INTEGER);
    expect(readFileSync(join(hawser.dataDir, 'last-doctor.json'), 'utf8')).to.not.include(hawser.folder);
  });
});
