// full: SQLite
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { insertNode } from '../../../src/db/nodes.ts';
import { REPORT_ROW_BYTES } from '../../../src/db/report-bytes.ts';
import { cleanRecords, type RecordRule } from '../../../src/deeds/clean-records.ts';
import { openReportWriter, type ReceivedReport } from '../../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../../src/domain/report-faults.ts';
import { newId } from '../../../src/lib/ids.ts';
import { Outcome } from '../../../src/versions/cleanup-run.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const NODES = 45;
const REPORTS = 30;
const NOW = 10_000_000;

for (const engine of ENGINES)
  describe(`the cleanup of reports while others come in on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    const database = () => opened().database;
    let nodeIds: string[];

    beforeEach(async () => {
      nodeIds = Array.from({ length: NODES }, newId);
      for (const [index, id] of nodeIds.entries())
        await insertNode(database().write, { id, fqdn: `node-${index}`, now: 1, settings: {} });
      const writer = openReportWriter(database());
      for (let at = 1; at <= REPORTS; at += 1)
        await Promise.all(nodeIds.map((id) => writer.submit(received(id, at * 100_000))));
    });

    const received = (node_id: string, timestamp: number): ReceivedReport => ({
      row: {
        ...{ id: newId(), node_id, timestamp, operation: 'Test', in_desired_state: timestamp % 3 ? 1 : null },
        ...{ had_errors: 0, result: `{"at":${timestamp}}` },
      },
      nodeStatus: null,
      ...{ checksum: null, servedChecksum: null, faults: NO_FAULTS },
    });
    async function clean(
      rule: RecordRule,
      { isDryRun = false, maxBytes = null as number | null } = {},
    ): Promise<Outcome> {
      const outcome = new Outcome();
      const { signal } = new AbortController();
      const run = { now: NOW, isDryRun, runId: newId(), outcome, signal };
      await cleanRecords(database(), 'reports', rule, run, maxBytes);
      return outcome;
    }
    const timesOf = async (nodeId: string) => {
      const rows = await database()
        .read.selectFrom('reports')
        .select('timestamp')
        .where('node_id', '=', nodeId)
        .orderBy('seq')
        .execute();
      return rows.map(({ timestamp }) => timestamp);
    };
    const last = (count: number) =>
      Array.from({ length: count }, (_, at) => (REPORTS - count + at + 1) * 100_000);

    /** The counts that lists show, and the same counted row by row. */
    async function expectRightCounts(): Promise<void> {
      for (const span of [60_000, 3_600_000]) {
        const { rows: kept } = await sql`select period, operation, in_desired_state, had_errors, count
        from report_counts where span = ${sql.lit(span)} order by 1, 2, 3, 4`.execute(database().read);
        const { rows: counted } = await sql`select timestamp / ${sql.lit(span)} as period, operation,
        coalesce(in_desired_state, -1) as in_desired_state, had_errors, count(*) as count
        from reports group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(database().read);
        expect(kept).to.deep.equal(counted);
      }
    }

    it('deletes exactly what the rule says, keeps what came meanwhile, and the counts stay right', async () => {
      const writer = openReportWriter(database());
      const cleaning = clean({ keepCount: 4, keepDays: 0 });
      const [first = '', second = ''] = nodeIds;
      const arrived = Array.from({ length: 20 }, async (_, at) => {
        await sleep(at * 3);
        await writer.submit(received(at % 2 === 0 ? first : second, NOW + 1 + at));
      });
      const outcome = await cleaning;
      await Promise.all(arrived);
      for (const nodeId of nodeIds.slice(2)) expect(await timesOf(nodeId)).to.deep.equal(last(4));
      // What arrives before its node's turn is among the newest four, so fewer of the old ones stay.
      let kept = 4 * (NODES - 2);
      for (const [at, nodeId] of [first, second].entries()) {
        const times = await timesOf(nodeId);
        const old = times.filter((time) => time < NOW);
        expect(old).to.deep.equal(last(old.length));
        expect(old.length).to.be.at.most(4);
        const arrivals = Array.from({ length: 10 }, (_, each) => NOW + 1 + 2 * each + at);
        expect(times.slice(old.length)).to.deep.equal(arrivals);
        kept += old.length;
      }
      expect(outcome).to.include({ deletedCount: NODES * REPORTS - kept });
      await expectRightCounts();
    });

    it('keeps a new report that has the key of one that was deleted with its node meanwhile', async () => {
      const [first = ''] = nodeIds;
      const newest = nodeIds.at(-1) ?? '';
      let cleaning: Promise<Outcome> | undefined;
      // The cleanup reads what is due, and then waits for its turn to delete it.
      await database()
        .write.transaction()
        .execute(async (trx) => {
          cleaning = clean({ keepCount: 0, keepDays: 0 });
          await sleep(100);
          await trx.deleteFrom('nodes').where('id', '=', newest).execute();
          const { row } = received(first, NOW + 1);
          await trx.insertInto('reports').values(row).execute();
        });
      await cleaning;
      expect(await timesOf(first)).to.deep.equal([NOW + 1]);
      await expectRightCounts();
    });

    describe('by the limit of their bytes', () => {
      // PostgreSQL stores a text with its length.
      const EACH = '{"at":3000000}'.length + 1 + REPORT_ROW_BYTES;
      const within = (reports: number, isDryRun = false, rule = { keepCount: REPORTS, keepDays: 0 }) =>
        clean(rule, { isDryRun, maxBytes: reports * EACH });
      const countOf = async () =>
        (await sql<{ count: number }>`select count(*) as count from reports`.execute(database().read)).rows[0]
          ?.count;

      it('deletes the oldest of the whole fleet until the others fit, and says so alike in a dry run', async () => {
        const said = await within(NODES * 4, true);
        expect(await countOf()).to.equal(NODES * REPORTS);
        const outcome = await within(NODES * 4);
        expect(outcome).to.include({ deletedCount: NODES * (REPORTS - 4), keptCount: NODES * 4 });
        expect(said).to.deep.equal(outcome);
        expect(outcome.overSizeCount).to.equal(outcome.deletedCount);
        for (const nodeId of nodeIds) expect(await timesOf(nodeId)).to.deep.equal(last(4));
        await expectRightCounts();
        expect(await within(NODES * 4)).to.include({ deletedCount: 0, overSizeCount: 0 });
      });

      it('keeps the newest of each node, however small the limit is', async () => {
        const quiet = nodeIds[3] ?? '';
        await database()
          .write.deleteFrom('reports')
          .where('node_id', '=', quiet)
          .where('timestamp', '>', 100_000)
          .execute();
        const outcome = await within(0);
        expect(outcome).to.include({ keptCount: NODES, overSizeCount: (NODES - 1) * (REPORTS - 1) });
        for (const nodeId of nodeIds)
          expect(await timesOf(nodeId)).to.deep.equal(nodeId === quiet ? [100_000] : last(1));
        await expectRightCounts();
      });

      it('tells what age and number delete from what the limit deletes', async () => {
        const rule = { keepCount: 10, keepDays: 0 };
        const said = await within(NODES * 6, true, rule);
        const outcome = await within(NODES * 6, false, rule);
        expect(outcome).to.include({ deletedCount: NODES * 24, overSizeCount: NODES * 4 });
        expect(said).to.deep.equal(outcome);
      });
    });
  });
