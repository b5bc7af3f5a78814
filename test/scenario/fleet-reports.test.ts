// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { withDatabase } from '../support/database.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const PATH = '/api/v1/fleet/reports';
const START = Date.UTC(2026, 8, 1);
const at = (time: number) => new Date(time).toISOString();
const query = (from: number, to: number, bucket: string) =>
  `${PATH}?from=${at(from)}&to=${at(to)}&bucket=${bucket}`;

interface StoredReport {
  timestamp: number;
  operation: 'Get' | 'Set' | 'Test' | 'Export';
  in_desired_state: number | null;
  had_errors: number;
}

describe('the reports of the fleet over time', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
  });

  async function addReports(reports: readonly StoredReport[]): Promise<void> {
    await withDatabase(hawser, ({ write }) =>
      write.transaction().execute(async (trx) => {
        for (const report of reports)
          await trx
            .insertInto('reports')
            .values({ id: newId(), node_id: node.nodeId, result: '{"hadErrors":false}', ...report })
            .execute();
      }),
    );
  }

  /** What a bucket must hold, counted report by report. */
  function expected(reports: readonly StoredReport[], from: number, to: number) {
    const inside = reports.filter(({ timestamp }) => timestamp >= from && timestamp < to);
    const good = inside.filter(({ had_errors }) => had_errors === 0);
    const said = (state: number | null) => good.filter((one) => one.in_desired_state === state).length;
    return {
      ...{ from: at(from), to: at(to), compliant: said(1), nonCompliant: said(0), unknown: said(null) },
      errors: inside.length - good.length,
    };
  }

  it('count what nodes report, each once', async () => {
    const post = (operation: string, said: boolean | null, hadErrors: boolean) =>
      ok(
        201,
        node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, {
          operation,
          result: testOutput(said === null ? [] : [testedService(said)], hadErrors),
        }),
      );
    const from = hawser.clock.now() - 1;
    await post('Test', true, false);
    await post('Set', null, false);
    await post('Test', false, false);
    await post('Test', null, false);
    await post('Get', null, false);
    await post('Test', true, true);
    await post('Get', null, true);
    hawser.clock.advance(10);
    const [bucket, ...others] = await ok(200, hawser.admin.get(query(from, hawser.clock.now(), 'PT1H')));
    expect(bucket).to.include({ from: at(from), compliant: 2, nonCompliant: 1, unknown: 2, errors: 2 });
    expect(others).to.deep.equal([]);
  });

  it('begin and end to the millisecond, whether their edges are whole hours or not', async () => {
    const edges = [
      0,
      1,
      SECOND,
      MINUTE - 1,
      MINUTE,
      MINUTE + 1,
      HOUR - 1,
      HOUR,
      HOUR + 1,
      3 * HOUR,
      DAY - 1,
      DAY,
      DAY + 1,
    ];
    const kinds: Omit<StoredReport, 'timestamp'>[] = [
      { operation: 'Test', in_desired_state: 1, had_errors: 0 },
      { operation: 'Set', in_desired_state: 0, had_errors: 0 },
      { operation: 'Test', in_desired_state: 0, had_errors: 1 },
      { operation: 'Export', in_desired_state: null, had_errors: 0 },
    ];
    const reports = Array.from({ length: 600 }, (_, index) => ({
      timestamp: START + (edges[index % edges.length] ?? 0) + (index % 7) * 7 * HOUR,
      ...(kinds[index % kinds.length] as (typeof kinds)[number]),
    }));
    await addReports(reports);
    for (const [from, to, bucket, length] of [
      [START, START + 3 * DAY, '01:00:00', HOUR],
      [START, START + DAY + 1, 'PT1H', HOUR],
      [START + 1, START + 2 * DAY, '03:00:00', 3 * HOUR],
      [START - 1, START + DAY, '00:07:30', 7.5 * MINUTE],
      [START + HOUR - 1, START + DAY + HOUR, '1.00:00:00.001', DAY + 1],
      [START, START + 4 * HOUR, '00:05:00', 5 * MINUTE],
      [START - 40 * DAY, START + 10 * DAY + 12_345, '31.00:00:00', 31 * DAY],
      [START, START + 2, '31.00:00:00', 31 * DAY],
    ] as const) {
      const path = query(from, to, bucket);
      const reply = await hawser.admin.get(`${path}&take=1000`);
      const starts: number[] = [];
      for (let start = from; start < to; start += length) starts.push(start);
      const buckets = starts.map((start) => expected(reports, start, Math.min(start + length, to)));
      expect(await ok(200, reply), path).to.deep.equal(buckets);
      expect(reply.headers['x-total-count'], path).to.equal(String(buckets.length));
    }
  });

  it('count no report that retention has deleted', async () => {
    const from = START - 60 * DAY;
    await addReports([{ timestamp: from + 5, operation: 'Test', in_desired_state: 1, had_errors: 0 }]);
    const count = async () =>
      (await ok(200, hawser.admin.get(query(from, from + DAY, 'P1D')))).map(
        ({ compliant }: { compliant: number }) => compliant,
      );
    expect(await count()).to.deep.equal([1]);
    await ok(200, hawser.admin.post('/api/v1/retention/reports/cleanup', { keepCount: 0, keepDays: 30 }));
    expect(await count()).to.deep.equal([0]);
  });

  it('are a list like any other', async () => {
    const path = query(START, START + 300 * HOUR, 'PT1H');
    const first = await hawser.admin.get(path);
    const buckets = await ok(200, first);
    expect(buckets).to.have.length(100);
    expect(first.headers['x-total-count']).to.equal('300');
    expect(first.headers['link']).to.match(/skip=100.*rel="next"$/);
    const last = await ok(200, hawser.admin.get(`${path}&take=7&skip=298`));
    expect(last.map(({ to }: { to: string }) => to)).to.deep.equal([
      at(START + 299 * HOUR),
      at(START + 300 * HOUR),
    ]);
    expect(await ok(200, hawser.admin.get(query(START, START, 'PT1H')))).to.deep.equal([]);
    const times = `from=2026-09-01T02:00:00%2B02:00&to=2026-09-01T01:00:00Z`;
    const [bucket] = await ok(200, hawser.admin.get(`${PATH}?${times}&bucket=PT1H`));
    expect(bucket).to.include({ from: at(START), to: at(START + HOUR) });
  });

  it('can be 1,000 at most, of 5 minutes to 31 days', async () => {
    expect(
      await ok(200, hawser.admin.get(`${query(START, START + 5_000 * MINUTE, 'PT5M')}&take=1000`)),
    ).to.have.length(1_000);
    const refuse = async (path: string, member: string) => {
      const { json } = await expectProblem(hawser.admin.get(path), 400, 'validation_failed', path);
      expect(
        json.errors.map((error: { path: string }) => error.path),
        path,
      ).to.include(`/${member}`);
    };
    await refuse(query(START, START + 5_000 * MINUTE + 1, 'PT5M'), 'bucket');
    for (const bucket of ['00:04:59.9999999', '31.00:00:00.0000001', 'hour'])
      await refuse(query(START, START + HOUR, bucket), 'bucket');
    await refuse(query(START + 1, START, 'PT1H'), 'to');
    await refuse(`${PATH}?to=${at(START)}&bucket=PT1H`, 'from');
    await refuse(`${PATH}?from=${at(START)}&bucket=PT1H`, 'to');
    await refuse(`${PATH}?from=${at(START)}&to=${at(START)}`, 'bucket');
    await refuse(`${PATH}?from=yesterday&to=${at(START)}&bucket=PT1H`, 'from');
    await refuse(`${query(START, START, 'PT1H')}&node=1`, 'node');
  });
});
