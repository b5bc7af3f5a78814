import { expect } from 'chai';
import { insertNode, listStatusEvents } from '../../../src/db/nodes.ts';
import { listNodeReports } from '../../../src/db/reports.ts';
import { openStatusWriter } from '../../../src/deeds/take-lcm-status.ts';
import { openReportWriter, type ReceivedReport } from '../../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../../src/domain/report-faults.ts';
import type { NodeStatus } from '../../../src/domain/report-verdict.ts';
import { newId } from '../../../src/lib/ids.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

for (const engine of ENGINES)
  describe(`the writer of reports on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    const database = () => opened().database;
    const [web, db, gone] = [newId(), newId(), newId()];

    beforeEach(async () => {
      for (const [id, fqdn] of Object.entries({ [web]: 'web', [db]: 'db' })) {
        await insertNode(database().write, { id, fqdn, now: 1, settings: {} });
      }
    });

    const received = (node_id: string, nodeStatus: NodeStatus | null, timestamp: number): ReceivedReport => ({
      row: {
        ...{ id: newId(), node_id, timestamp, operation: 'Test', in_desired_state: null, had_errors: 0 },
        result: '{"hadErrors":false}',
      },
      nodeStatus,
      ...{ checksum: null, servedChecksum: null, faults: NO_FAULTS },
    });
    const events = async () => {
      const rows = await database().read.selectFrom('status_events').selectAll().orderBy('id').execute();
      return rows.map(({ node_id, status, timestamp }) => [node_id, status, timestamp]);
    };
    const statusOf = async (id: string) => {
      const query = database().read.selectFrom('nodes').select('status').where('id', '=', id);
      return (await query.executeTakeFirstOrThrow()).status;
    };
    const submitAll = (...reports: ReceivedReport[]) => {
      const writer = openReportWriter(database());
      return Promise.allSettled(reports.map((report) => writer.submit(report)));
    };

    it('tells every change of a node within one batch, in the order of the reports', async () => {
      await submitAll(
        ...[received(web, 'Compliant', 10), received(db, 'Unknown', 11), received(web, 'NonCompliant', 12)],
        ...[received(web, null, 13), received(web, 'NonCompliant', 14), received(db, 'Error', 15)],
        received(web, 'Unknown', 16),
      );
      expect(await events()).to.deep.equal([
        [web, 'Compliant', 10],
        [web, 'NonCompliant', 12],
        [db, 'Error', 15],
        [web, 'Unknown', 16],
      ]);
      expect(await statusOf(web)).to.equal('Unknown');
      expect(await statusOf(db)).to.equal('Error');
    });

    it('has one order of what a node tells, whatever the clocks of the servers that took it say', async () => {
      const ofOther = openReportWriter(database());
      const writer = openReportWriter(database());
      await writer.submit(received(web, 'Compliant', 5_000));
      const late = await ofOther.submit(received(web, 'Error', 4_000));
      await openStatusWriter(database()).submit({ nodeId: web, lcmStatus: 'Idle', now: 3_000 });
      await writer.submit(received(web, 'Compliant', 4_500));
      expect(late).to.include({ timestamp: 5_000 });
      const { rows } = await listStatusEvents(database().read, web, { take: 10, skip: 0 });
      expect(rows.map(({ status, lcmStatus }) => status ?? lcmStatus)).to.deep.equal([
        ...['Compliant', 'Idle', 'Error', 'Compliant'],
      ]);
      const reports = await listNodeReports(database().read, web, { take: 1, skip: 0 });
      expect(reports.rows.map(({ timestamp }) => timestamp)).to.deep.equal([5_000]);
      expect(await statusOf(web)).to.equal('Compliant');
    });

    it('takes the time as it is again after a clock that was far ahead', async () => {
      const writer = openReportWriter(database());
      await writer.submit(received(web, 'Error', 3_600_000));
      expect(await writer.submit(received(web, 'Compliant', 7))).to.include({ timestamp: 7 });
    });

    it('refuses the report of a node that is gone, and of no other', async () => {
      const settled = await submitAll(
        ...[received(web, 'Compliant', 10), received(gone, 'Error', 11), received(db, 'Error', 12)],
      );
      expect(settled.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect((settled[1] as PromiseRejectedResult).reason).to.include({ kind: 'unauthenticated' });
      const rows = await database().read.selectFrom('reports').select('node_id').orderBy('seq').execute();
      expect(rows.map(({ node_id }) => node_id)).to.deep.equal([web, db]);
      expect(await events()).to.deep.equal([
        [web, 'Compliant', 10],
        [db, 'Error', 12],
      ]);
    });

    it('writes a batch of nothing but reports of nodes that are gone', async () => {
      const [only] = await submitAll(received(gone, 'Error', 1));
      expect(only?.status).to.equal('rejected');
      expect(await events()).to.deep.equal([]);
    });

    it('counts what there is, and forgets what is deleted, down to the last', async () => {
      const writer = openReportWriter(database());
      await Promise.all([1, 2, 3_600_000].map((time) => writer.submit(received(web, null, time))));
      await writer.submit(received(db, null, 1));
      const counts = async () => {
        const rows = await database().read.selectFrom('report_counts').selectAll().execute();
        const counted = rows.map(({ span, period, count }) => [span, period, count] as const);
        return counted.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      };
      expect(await counts()).to.deep.equal([
        [0, 0, 4],
        [60_000, 0, 3],
        [60_000, 60, 1],
        [3_600_000, 0, 3],
        [3_600_000, 1, 1],
      ]);
      await database().write.deleteFrom('nodes').where('id', '=', web).execute();
      expect(await counts()).to.deep.equal([
        [0, 0, 1],
        [60_000, 0, 1],
        [3_600_000, 0, 1],
      ]);
      await database().write.deleteFrom('reports').execute();
      expect(await counts()).to.deep.equal([]);
    });
  });
