// full: SQLite, PostgreSQL
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DAY, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { entriesDuring } from '../support/audit-table.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp, RETENTION, RUNS } from '../support/retention.ts';
import { startedForEach } from '../support/started.ts';

const METRICS_TOKEN = 'the-token-that-opens-the-metrics';

const KINDS = [
  { what: 'reports', versionType: 'Report', settings: { reportKeepCount: 2, reportKeepDays: 3 } },
  {
    what: 'status-events',
    versionType: 'StatusEvent',
    settings: { statusEventKeepCount: 2, statusEventKeepDays: 3 },
  },
] as const;

for (const { what, versionType, settings } of KINDS) {
  describe(`the cleanup of ${what}`, () => {
    const hawser = startedForEach(startHawser);
    let busy: NodeUnderTest;
    let quiet: NodeUnderTest;

    beforeEach(async () => {
      busy = await hawser.registerNode('busy.example.org');
      quiet = await hawser.registerNode('quiet.example.org');
    });

    /** Records of these ages in days. */
    async function write({ nodeId }: NodeUnderTest, ...ages: number[]): Promise<void> {
      const now = hawser.clock.now();
      await withDatabase(hawser, async ({ write: db }) => {
        for (const age of ages) {
          const record = { node_id: nodeId, timestamp: now - age * DAY };
          if (what === 'reports') {
            const outcome = { operation: 'Test', in_desired_state: 1, had_errors: 0, result: '{}' } as const;
            await db
              .insertInto('reports')
              .values({ id: newId(), ...record, ...outcome })
              .execute();
          } else {
            await db
              .insertInto('status_events')
              .values({ ...record, lcm_status: 'Idle', status: null })
              .execute();
          }
        }
      });
    }

    /** The ages of what is left, in whole days, newest first. */
    async function left({ nodeId }: NodeUnderTest): Promise<number[]> {
      const list = what === 'reports' ? 'reports' : 'status-history';
      const records = await ok(200, hawser.admin.get(`/api/v1/nodes/${nodeId}/${list}?take=1000`));
      const now = hawser.clock.now() + SECOND;
      return records.map(({ timestamp }: { timestamp: string }) =>
        Math.floor((now - Date.parse(timestamp)) / DAY),
      );
    }

    it('keeps of each node the newest, and all that are young enough', async () => {
      await write(busy, 1, 2, 3, 4, 5, 6);
      await write(quiet, 50, 60, 70);
      const result = await cleanUp(hawser.admin, what, { keepCount: 2, keepDays: 4 });
      expect(result).to.deep.include({ versionType, isDryRun: false, deletedVersions: null });
      expect(result).to.include({ deletedCount: 4, keptCount: 5 });
      expect(await left(busy)).to.deep.equal([1, 2, 3]);
      expect(await left(quiet)).to.deep.equal([50, 60]);
      expect((await ok(200, hawser.admin.get(RUNS)))[0]).to.include({
        versionType,
        deletedCount: 4,
        keptCount: 5,
      });
    });

    it('tells records of one moment apart by the order of writing', async () => {
      await write(busy, 5, 5, 5, 5);
      const before = await ok(200, hawser.admin.get(listOf(busy)));
      expect(await cleanUp(hawser.admin, what, { keepCount: 3, keepDays: 0 })).to.include({
        deletedCount: 1,
      });
      expect(await ok(200, hawser.admin.get(listOf(busy)))).to.deep.equal(before.slice(0, 3));
    });

    const listOf = ({ nodeId }: NodeUnderTest) =>
      `/api/v1/nodes/${nodeId}/${what === 'reports' ? 'reports' : 'status-history'}?take=1000`;

    it('counts alike in a dry run, and deletes nothing', async () => {
      await write(busy, 1, 2, 3, 4, 5, 6);
      const wish = { keepCount: 2, keepDays: 4, dryRun: true };
      const { result, entries } = await entriesDuring(hawser, () => cleanUp(hawser.admin, what, wish));
      expect(result).to.include({ isDryRun: true, deletedCount: 3, keptCount: 3 });
      expect(entries).to.deep.equal([]);
      expect(await left(busy)).to.have.length(6);
    });

    it('takes what is left out from the settings of the server, and is in the audit trail', async () => {
      await write(busy, 1, 2, 3, 4, 5);
      expect(await cleanUp(hawser.admin, what)).to.include({ deletedCount: 0, keptCount: 5 });
      await ok(200, hawser.admin.put('/api/v1/settings/retention', settings));
      const { result, entries } = await entriesDuring(hawser, () => cleanUp(hawser.admin, what, {}));
      expect(result).to.include({ deletedCount: 3, keptCount: 2 });
      expect(entries.map(({ action, resource_id }) => [action, resource_id])).to.deep.equal([
        ['retention.run', result.runId],
      ]);
      expect(await left(busy)).to.deep.equal([1, 2]);
    });

    it('deletes hundreds in many small steps, all of them', async () => {
      await write(busy, ...Array(700).fill(40));
      await write(quiet, ...Array(30).fill(40));
      expect(await cleanUp(hawser.admin, what, { keepCount: 10, keepDays: 1 })).to.include({
        deletedCount: 710,
        keptCount: 20,
      });
      expect(await left(busy)).to.have.length(10);
      expect(await cleanUp(hawser.admin, what, { keepCount: 0, keepDays: 0 })).to.include({ keptCount: 0 });
      expect(await left(busy)).to.deep.equal([]);
    });

    it('refuses bad wishes, and none at all', async () => {
      const none = hawser.admin.post(`${RETENTION}/${what}/cleanup`);
      await expectProblem(none, 400, 'validation_failed: malformed_json');
      for (const wish of [{ keepCount: -1 }, { keepDays: '3' }, { keepVersions: 3 }]) {
        const [member] = Object.keys(wish);
        await expectInvalid(hawser.admin.post(`${RETENTION}/${what}/cleanup`, wish), `/${member}`);
      }
    });
  });
}

describe('the limit of all reports by their bytes', () => {
  it('deletes the oldest first and never the last one of a node, and is in log, audit trail and metrics', async () => {
    const settings = { HAWSER_REPORT_BYTES: '1MiB', HAWSER_METRICS_TOKEN: METRICS_TOKEN };
    const hawser = await startHawser(settings);
    try {
      const nodes = [
        await hawser.registerNode('quiet.example.org'),
        await hawser.registerNode('busy.example.org'),
      ];
      const [quiet, busy] = nodes.map(({ nodeId }) => nodeId);
      await withDatabase(hawser, async ({ write: db }) => {
        // Nothing compresses this, and ten of it are more than the limit.
        const result = JSON.stringify(randomBytes(80_000).toString('base64'));
        for (const [at, node_id = ''] of [quiet, ...Array(13).fill(busy)].entries()) {
          const outcome = { operation: 'Test', in_desired_state: 1, had_errors: 0, result } as const;
          const timestamp = hawser.clock.now() - (20 - at) * SECOND;
          await db
            .insertInto('reports')
            .values({ id: newId(), node_id, timestamp, ...outcome })
            .execute();
        }
      });
      const said = await cleanUp(hawser.admin, 'reports', { dryRun: true });
      const { result, entries } = await entriesDuring(hawser, () => cleanUp(hawser.admin, 'reports'));
      expect(result).to.include({ deletedCount: 5, keptCount: 9 });
      expect(said).to.include({ deletedCount: 5, keptCount: 9 });
      expect(entries[0]?.details).to.include({ deletedCount: 5, overSizeCount: 5 });
      expect(hawser.log()).to.include('"overSizeCount":5');
      const left = await ok(200, hawser.admin.get('/api/v1/reports?take=100'));
      const ofQuiet = left.filter(({ nodeId }: { nodeId: string }) => nodeId === quiet);
      expect([left.length, ofQuiet.length]).to.deep.equal([9, 1]);
      const scraper = hawser.client().with({ Authorization: `Bearer ${METRICS_TOKEN}` });
      expect((await scraper.get('/metrics')).text).to.match(/^hawser_reports_over_size_total 5$/m);
    } finally {
      await hawser.close();
    }
  });
});
