// full: PostgreSQL
/** Of several servers on one PostgreSQL database one leads, and does what nobody asks for. */

import { expect } from 'chai';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { listServers, readLead } from '../../src/db/servers.ts';
import { cleanupLock, LEADER } from '../../src/domain/lock-names.ts';
import { Leadership } from '../../src/leadership.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import { readVersion } from '../../src/lib/version.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { metricOf, WITH_METRICS } from '../support/metric-values.ts';
import { breakLock, holdersOf } from '../support/postgres/advisory-locks.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

const RUNS = '/api/v1/retention/runs';
const SETTINGS = '/api/v1/settings/retention';

describeOnPostgres('the lead', function (this: Mocha.Suite) {
  let database: TestDatabase;
  let handles: Database[];
  /** Who leads at the moment, and all that began to lead, in their order. */
  const leading = new Set<number>();
  const begun: number[] = [];
  let candidates: Leadership[];
  /** The lines of both logs, in the order in which they were written. */
  let told: { level: string; msg: string; lease: number; reason?: string }[];

  beforeEach(async () => {
    database = await newDatabase('migrated');
    const place = { dataDir: '', databaseUrl: database.url };
    handles = await Promise.all([openDatabase(place), openDatabase(place)]);
    leading.clear();
    begun.length = 0;
    told = [];
    const log = createLog('info', { write: (line) => void told.push(JSON.parse(line)) });
    candidates = handles.map((each, at) => {
      const lead = () => {
        leading.add(at);
        begun.push(at);
        return { close: async () => void leading.delete(at) };
      };
      return new Leadership({ database: each, server: newId(), log, lead });
    });
  });
  afterEach(async () => {
    await Promise.all(candidates.map((candidate) => candidate.close()));
    await Promise.all(handles.map((each) => each.close()));
    await database.drop();
  });

  const expectOne = (times: number) =>
    eventually(async () => {
      expect(begun).to.have.length(times);
      expect([...leading]).to.deep.equal(begun.slice(-1));
      expect(await holdersOf(database.url, LEADER)).to.have.length(1);
      return begun[times - 1] as number;
    });

  it('is with one of two, and goes to the other when the first closes', async () => {
    const first = await expectOne(1);
    expect(candidates.map(({ leads }) => leads)).to.deep.equal([first === 0, first === 1]);
    await candidates[first]?.close();
    expect(await expectOne(2)).to.equal(1 - first);
    expect(candidates.map(({ leads }) => leads)).to.deep.equal([first === 1, first === 0]);
    expect(told.map(({ level, msg, lease }) => [level, msg, lease])).to.deep.equal([
      ['info', 'this server leads', 1],
      ['info', 'this server leads no longer', 1],
      ['info', 'this server leads', 2],
    ]);
  });

  it('ends when a renewal finds that another server leads', async () => {
    await expectOne(1);
    await handles[0]?.write.updateTable('lead_lease').set({ number: 7 }).execute();
    await eventually(async () => expect(told.map(({ reason }) => reason)).to.include('another server leads'));
    await expectOne(2);
    expect((await readLead((handles[0] as Database).read)).number).to.equal(8);
  });

  it('ends with the connection that holds it, and is tried anew by both', async () => {
    await expectOne(1);
    for (const times of [2, 3, 4]) {
      await breakLock(database.url, LEADER);
      await expectOne(times);
    }
  });
});

describeOnPostgres('two servers, of which one leads', function (this: Mocha.Suite) {
  let one: Hawser;
  let other: Hawser;

  beforeEach(async () => {
    one = await startHawser(WITH_METRICS);
    await eventually(async () => expect(await holdersOf(one.databaseUrl ?? '', LEADER)).to.have.length(1));
    other = await startHawser({ ...WITH_METRICS, HAWSER_DATABASE_URL: one.databaseUrl ?? '' });
  });
  afterEach(async () => {
    await other.close();
    await one.close();
  });

  const leaders = () => Promise.all([one, other].map((each) => metricOf(each.target(), 'hawser_leader')));

  it('say so in their metrics, and not in /health/ready', async () => {
    expect(await leaders()).to.deep.equal([1, 0]);
    for (const { admin } of [one, other])
      expect((await admin.get('/health/ready')).text).not.to.match(/\blead/i);
    await breakLock(one.databaseUrl ?? '', LEADER);
    await eventually(async () => expect((await leaders()).toSorted()).to.deep.equal([0, 1]));
  });

  const servers = () => withDatabase(other, ({ read }) => listServers(read));

  /** Writes a cleanup of reports that goes on. */
  async function insertRun(): Promise<string> {
    const id = newId();
    const run = { id, started_at: 5, completed_at: null, version_type: 'Report', is_scheduled: 0 } as const;
    const rest = { is_dry_run: 0, deleted_count: 0, kept_count: 0, error: null, was_interrupted: 0 };
    await withDatabase(other, ({ write }) =>
      write
        .insertInto('retention_runs')
        .values({ ...run, ...rest })
        .execute(),
    );
    return id;
  }

  it('looks at the schedule when it takes the lead, and no run is done twice', async () => {
    await ok(200, one.admin.put(SETTINGS, { enabled: true }));
    await one.server.close();
    await eventually(async () => {
      const runs = await ok(200, other.admin.get(RUNS));
      expect(runs).to.have.length(5);
      for (const run of runs) expect(run).to.include({ isScheduled: true, error: null });
    });
    await one.restart();
    expect(await ok(200, one.admin.get(RUNS))).to.have.length(5);
  });

  it('leaves the running cleanups of the others alone, and ends the records of those that ended', async () => {
    const id = await insertRun();
    const endOf = async () => (await ok(200, one.admin.get(RUNS)))[0];
    await withDatabase(one, ({ locks }) =>
      locks.run(cleanupLock('Report'), async () => {
        await other.restart();
        expect(await endOf()).to.include({ id, completedAt: null });
      }),
    );
    await other.restart();
    expect((await endOf()).error).to.match(/server ended/);
  });

  it('lists both with their versions, and each only while it is there', async () => {
    const both = await servers();
    expect(both.map(({ version }) => version)).to.deep.equal([readVersion(), readVersion()]);
    const gone = { id: newId(), version: '0.0.1', seen_at: new Date(Date.now() - 61_000) };
    await withDatabase(other, ({ write }) => write.insertInto('servers').values(gone).execute());
    expect((await servers()).map(({ id }) => id)).to.deep.equal(both.map(({ id }) => id));
    await one.server.close();
    expect(await servers()).to.have.length(1);
    // Whoever leads now has removed the row of the one that is long gone.
    await eventually(async () => {
      const rows = await withDatabase(other, ({ read }) => read.selectFrom('servers').selectAll().execute());
      expect(rows).to.have.length(1);
    });
    await one.restart();
    expect(await servers()).to.have.length(2);
  });
});
