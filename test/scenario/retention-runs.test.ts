// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { RetentionRuns } from '../../src/deeds/clean-up.ts';
import { RetentionSchedule } from '../../src/deeds/cleanup-schedule.ts';
import { Maintenance } from '../../src/git/maintenance.ts';
import { HOUR, MINUTE, toTimestamp } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { LocalLocks } from '../../src/lib/locks.ts';
import { createLog } from '../../src/lib/log.ts';
import { CompositeReader } from '../../src/resolve/composites.ts';
import { entriesOf } from '../support/audit-table.ts';
import { CONFIGURATIONS } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { beside, cleanUp, publishVersions, RUNS, versionsLeft } from '../support/retention.ts';
import { startedForEach } from '../support/started.ts';

const SETTINGS = '/api/v1/settings/retention';
const ALL = ['Composite', 'Configuration', 'Parameter', 'Report', 'StatusEvent'];

describe('the history of cleanups', () => {
  const hawser = startedForEach(startHawser);

  const runs = (query = '') => ok(200, hawser.admin.get(RUNS + query));
  const typesOf = (some: { versionType: string }[]) => some.map(({ versionType }) => versionType);

  it('lists runs newest first, by pages and by time', async () => {
    for (const what of ['configurations', 'parameters', 'reports', 'status-events']) {
      await cleanUp(hawser.admin, what, { dryRun: true });
      hawser.clock.advance(MINUTE);
    }
    const all = await runs();
    expect(typesOf(all)).to.deep.equal(['StatusEvent', 'Report', 'Parameter', 'Configuration']);
    expect(Object.keys(all[0])).to.have.members([
      ...['id', 'startedAt', 'completedAt', 'versionType', 'isScheduled', 'isDryRun'],
      ...['deletedCount', 'keptCount', 'error'],
    ]);
    expect(typesOf(await runs('?limit=2'))).to.deep.equal(['StatusEvent', 'Report']);
    expect(typesOf(await runs('?limit=2&take=1&skip=1'))).to.deep.equal(['Report']);
    const [, second, third] = all;
    expect(typesOf(await runs(`?from=${second.startedAt}`))).to.deep.equal(['StatusEvent', 'Report']);
    expect(typesOf(await runs(`?to=${third.startedAt}`))).to.deep.equal(['Parameter', 'Configuration']);
    const reply = await hawser.admin.get(`${RUNS}?limit=3`);
    expect(reply.headers['x-total-count']).to.equal('4');
    expect(reply.headers['link']).to.contain('rel="next"');
    for (const bad of ['limit=0', 'limit=1001', 'take=x', 'from=yesterday']) {
      await expectProblem(hawser.admin.get(`${RUNS}?${bad}`), 400, 'validation_failed', bad);
    }
  });

  it('shows fifty at once unless asked for more', async () => {
    await withDatabase(hawser, async ({ write }) => {
      for (let at = 0; at < 60; at += 1) {
        await write
          .insertInto('retention_runs')
          .values({
            ...{ id: newId(), started_at: at, completed_at: at, version_type: 'Report', is_scheduled: 0 },
            ...{ is_dry_run: 0, deleted_count: 0, kept_count: 0, error: null, was_interrupted: 0 },
          })
          .execute();
      }
    });
    expect(await runs()).to.have.length(50);
    expect(await runs('?take=55')).to.have.length(55);
    expect(await runs('?limit=1000')).to.have.length(60);
  });

  it('has both of two runs of one type that were asked for at once, one after the other', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0', '1.2.0');
    const wish = { keepVersions: 1, keepDays: 0, keepReleaseVersions: false };
    const results = await Promise.all([1, 2, 3].map(() => cleanUp(hawser.admin, 'configurations', wish)));
    expect(results.map(({ deletedCount }) => deletedCount).sort()).to.deep.equal([0, 0, 2]);
    expect(await runs()).to.have.length(3);
  });

  it('records that a run was cut off by the end of the server', async () => {
    const id = newId();
    await withDatabase(hawser, ({ write }) =>
      write
        .insertInto('retention_runs')
        .values({
          ...{ id, started_at: 5, completed_at: null, version_type: 'Report', is_scheduled: 0 },
          ...{ is_dry_run: 0, deleted_count: 0, kept_count: 0, error: null, was_interrupted: 0 },
        })
        .execute(),
    );
    expect((await runs())[0]).to.deep.include({ id, completedAt: null, startedAt: toTimestamp(5) });
    await hawser.restart();
    const [run] = await runs();
    expect(run.completedAt).to.be.a('string');
    expect(run.error).to.match(/server ended/);
  });
});

describe('the schedule of cleanups', () => {
  const hawser = startedForEach(startHawser);

  const runs = () => ok(200, hawser.admin.get(`${RUNS}?take=1000`));
  const expectRuns = (count: number) =>
    eventually(async () => {
      const all = await runs();
      expect(all).to.have.length(count);
      expect(all.every(({ completedAt }: { completedAt: string | null }) => completedAt !== null)).to.equal(
        true,
      );
      return all;
    });

  it('runs nothing unless it is switched on', async () => {
    hawser.clock.advance(100 * HOUR);
    await hawser.restart();
    await cleanUp(hawser.admin, 'reports');
    expect(await runs()).to.have.length(1);
  });

  it('runs all five when they are due, with the settings of the server, in the name of the server', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    const settings = { enabled: true, keepVersions: 1, keepDays: 0, keepReleaseVersions: false };
    await ok(200, hawser.admin.put(SETTINGS, settings));
    await hawser.restart();
    const all = await expectRuns(5);
    expect(all.map(({ versionType }: { versionType: string }) => versionType).sort()).to.deep.equal(ALL);
    for (const run of all) expect(run).to.include({ isScheduled: true, isDryRun: false, error: null });
    expect(await versionsLeft(hawser.admin, `${CONFIGURATIONS}/web`)).to.deep.equal(['1.1.0']);
    const entry = (await entriesOf(hawser)).find(({ action }) => action === 'configuration.version_deleted');
    expect(entry).to.include({ actor_type: 'System' });
  });

  it('neither forgets nor repeats a run when the server starts anew', async () => {
    await ok(200, hawser.admin.put(SETTINGS, { enabled: true, scheduleIntervalHours: 12 }));
    await hawser.restart();
    await expectRuns(5);
    hawser.clock.advance(11 * HOUR);
    await hawser.restart();
    await cleanUp(hawser.admin, 'reports', { dryRun: true });
    await expectRuns(6);
    hawser.clock.advance(2 * HOUR);
    await hawser.restart();
    await expectRuns(11);
  });

  it('begins again what the end of the server cut off', async () => {
    await ok(200, hawser.admin.put(SETTINGS, { enabled: true }));
    await hawser.restart();
    await expectRuns(5);
    await withDatabase(hawser, ({ write }) =>
      write
        .updateTable('retention_runs')
        .set({ completed_at: null })
        .where('version_type', '=', 'Parameter')
        .execute(),
    );
    await hawser.restart();
    const all = await expectRuns(6);
    expect(all[0]).to.include({ versionType: 'Parameter', error: null });
  });

  it('runs what falls due while the server runs', async () => {
    await ok(200, hawser.admin.put(SETTINGS, { enabled: true }));
    await beside(hawser, (store) =>
      withDatabase(hawser, async (database) => {
        const { clock } = hawser;
        const log = createLog('silent');
        const maintenance = new Maintenance({ root: hawser.reposDir, searchPath: '', log });
        const stores = { database, store, composites: new CompositeReader(store), locks: new LocalLocks() };
        const unlimited = { maxReportBytes: null, onOverSize: () => undefined };
        const tools = { ...stores, maintenance, clock, log, ...unlimited };
        const schedule = new RetentionSchedule(tools, new RetentionRuns(tools));
        await schedule.check();
        await schedule.check();
        expect(await runs()).to.have.length(5);
        clock.advance(25 * HOUR);
        await schedule.check();
        expect(await runs()).to.have.length(10);
        await schedule.close();
      }),
    );
  });
});
