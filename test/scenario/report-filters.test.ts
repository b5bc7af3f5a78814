// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { started } from '../support/started.ts';

const ALL = '/api/v1/reports';

interface Summary {
  id: string;
  nodeId: string;
  timestamp: string;
  operation: string;
  inDesiredState: boolean | null;
  hadErrors: boolean;
}

/** One report of every kind that there is. */
const KINDS: [operation: string, said: boolean | null, hadErrors: boolean][] = [
  ...['Get', 'Export'].flatMap((operation) =>
    [true, false].map((hadErrors): [string, null, boolean] => [operation, null, hadErrors]),
  ),
  ...[true, false].flatMap((said) =>
    ['Test', 'Set'].flatMap((operation) =>
      [true, false].map((hadErrors): [string, boolean, boolean] => [operation, said, hadErrors]),
    ),
  ),
  ['Test', null, true],
  ['Test', null, false],
];

describe('the lists of reports', () => {
  const hawser = started(startHawser);
  let nodes: NodeUnderTest[];
  /** Everything that was reported, newest first. */
  let expected: Summary[];

  before(async () => {
    nodes = [await hawser.registerNode('web-01.example.org'), await hawser.registerNode('db-01.example.org')];
    expected = [];
    // Half of them within one of the periods that are counted together, the others further and further apart.
    for (const [round, pause] of [200, 400, 7 * MINUTE, 95 * MINUTE].entries()) {
      for (const [index, [operation, said, hadErrors]] of KINDS.entries()) {
        const node = nodes[(index + round) % 2] as NodeUnderTest;
        const result = testOutput(said === null ? [] : [testedService(said)], hadErrors);
        const reply = await node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, { operation, result });
        expect(reply.status, reply.text).to.equal(201);
        expected.unshift(reply.json);
        hawser.clock.advance(pause);
      }
    }
  });

  const ids = (reports: readonly Summary[]) => reports.map(({ id }) => id);
  const queryOf = (filters: Record<string, unknown>) =>
    new URLSearchParams(
      Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
    );

  /** Asks for all that match in pages of this size, by following the links. */
  async function follow(path: string, take: number): Promise<Summary[]> {
    const found: Summary[] = [];
    for (let next: string | undefined = `${path}take=${take}`; next !== undefined; ) {
      const reply = await hawser.admin.get(next);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.json.length).to.be.at.most(take);
      found.push(...reply.json);
      next = /^<([^>]+)>; rel="next"$/.exec(String(reply.headers['link'] ?? ''))?.[1];
    }
    return found;
  }

  async function expectFound(
    filters: Record<string, unknown>,
    matches: (report: Summary) => boolean,
  ): Promise<void> {
    const query = queryOf(filters);
    const paths: [string, (report: Summary) => boolean][] = [
      [`${ALL}?${query}`, matches],
      ...nodes.flatMap(({ nodeId }): [string, (report: Summary) => boolean][] => {
        const ofNode = (report: Summary) => report.nodeId === nodeId && matches(report);
        return [
          [`/api/v1/nodes/${nodeId}/reports?${query}`, ofNode],
          [`${ALL}?nodeId=${nodeId}&${query}`, ofNode],
        ];
      }),
    ];
    for (const [path, selected] of paths) {
      const wanted = expected.filter(selected);
      const reply = await hawser.admin.get(path);
      expect(reply.status, `${path} ${reply.text}`).to.equal(200);
      expect(reply.json, path).to.deep.equal(wanted);
      expect(reply.headers['x-total-count'], path).to.equal(String(wanted.length));
      expect(reply.headers, path).to.not.have.property('link');
    }
  }

  it('show everything, newest first', () => expectFound({}, () => true));

  for (const operation of ['Get', 'Set', 'Test', 'Export']) {
    it(`are filtered by the operation ${operation}, in any case`, async () => {
      await expectFound({ operation: operation.toUpperCase() }, (report) => report.operation === operation);
    });
  }
  for (const inDesiredState of [true, false, null]) {
    it(`are filtered by inDesiredState ${inDesiredState}`, async () => {
      await expectFound({ inDesiredState }, (report) => report.inDesiredState === inDesiredState);
    });
  }
  for (const hadErrors of [true, false]) {
    it(`are filtered by hadErrors ${hadErrors}`, async () => {
      await expectFound({ hadErrors }, (report) => report.hadErrors === hadErrors);
    });
  }

  it('are filtered by every combination of the three', async () => {
    for (const operation of ['Get', 'Set', 'Test', 'Export']) {
      for (const inDesiredState of [true, false, null]) {
        for (const hadErrors of [true, false]) {
          const wanted = { operation, inDesiredState, hadErrors };
          await expectFound(
            wanted,
            (report) =>
              report.operation === operation &&
              report.inDesiredState === inDesiredState &&
              report.hadErrors === hadErrors,
          );
        }
      }
    }
  });

  it('are filtered by time, both ends of it included, alone and with the rest', async () => {
    const reported = [55, 50, 35, 20, 14, 3, 0].map((index) => expected[index]?.timestamp ?? '');
    // Reports are counted by whole minutes and hours: their ends are where a count could go wrong.
    const whole = reported
      .slice(2, 5)
      .flatMap((time) => [`${time.slice(0, 16)}:00.000Z`, `${time.slice(0, 13)}:59:59.999Z`]);
    const times = [...reported, ...whole].sort();
    for (const from of times) {
      await expectFound({ from }, (report) => report.timestamp >= from);
      await expectFound({ to: from }, (report) => report.timestamp <= from);
      for (const to of times.filter((time) => time >= from)) {
        const isWithin = ({ timestamp }: Summary) => timestamp >= from && timestamp <= to;
        await expectFound({ from, to }, isWithin);
        await expectFound({ from, to, hadErrors: true }, (report) => report.hadErrors && isWithin(report));
      }
    }
    const [newest = '', oldest = ''] = [expected[0]?.timestamp, expected.at(-1)?.timestamp];
    const beyond = (time: string, by: number) => new Date(Date.parse(time) + by).toISOString();
    await expectFound({ from: beyond(newest, 1) }, () => false);
    await expectFound({ to: beyond(oldest, -1) }, () => false);
    await expectFound({ from: '1970-01-01T00:00:00Z', to: '9999-12-31T23:59:59.999Z' }, () => true);
    const withOffset = oldest.replace('Z', '+00:00');
    await expectFound({ from: withOffset }, () => true);
  });

  it('come in pages, of which each names the next', async () => {
    for (const take of [1, 7, 20, 1000]) {
      expect(ids(await follow(`${ALL}?`, take))).to.deep.equal(ids(expected));
    }
    const tests = expected.filter(({ operation, hadErrors }) => operation === 'Test' && !hadErrors);
    expect(ids(await follow(`${ALL}?operation=Test&hadErrors=false&`, 2))).to.deep.equal(ids(tests));
    const node = nodes[0] as NodeUnderTest;
    const own = expected.filter(({ nodeId }) => nodeId === node.nodeId);
    expect(ids(await follow(`/api/v1/nodes/${node.nodeId}/reports?`, 5))).to.deep.equal(ids(own));
    const beyond = await hawser.admin.get(`${ALL}?skip=1000`);
    expect(beyond.json).to.deep.equal([]);
    expect(beyond.headers['x-total-count']).to.equal(String(expected.length));
  });

  it('know nothing of a node that is not there', async () => {
    const stranger = '00000000-0000-0000-0000-000000000000';
    expect((await hawser.admin.get(`${ALL}?nodeId=${stranger}`)).json).to.deep.equal([]);
    expect((await hawser.admin.get(`/api/v1/nodes/${stranger}/reports`)).status).to.equal(404);
  });

  it('refuse filters that make no sense', async () => {
    const bad: [string, string][] = [
      ['operation=Delete', '/operation'],
      ['inDesiredState=maybe', '/inDesiredState'],
      ['hadErrors=1', '/hadErrors'],
      ['from=yesterday', '/from'],
      ['to=2026-11-20', '/to'],
      ['from=2026-11-20T10:00:00Z&to=2026-11-20T09:00:00Z', '/to'],
    ];
    for (const path of [ALL, `/api/v1/nodes/${nodes[0]?.nodeId}/reports`]) {
      for (const [query, pointer] of bad) {
        const reply = await hawser.admin.get(`${path}?${query}`);
        expect(`${reply.status} ${reply.json.code}`, query).to.equal('400 validation_failed');
        expect(reply.json.errors[0].path, query).to.equal(pointer);
      }
    }
    expect((await hawser.admin.get(`${ALL}?nodeId=none`)).status).to.equal(400);
  });

  it('no longer count the reports of a node that is deleted', async () => {
    const gone = nodes[1] as NodeUnderTest;
    expect((await hawser.admin.delete(`/api/v1/nodes/${gone.nodeId}`)).status).to.equal(204);
    const left = expected.filter(({ nodeId }) => nodeId !== gone.nodeId);
    const oldest = left.at(-1)?.timestamp ?? '';
    const queries: [string, Summary[]][] = [
      ['', left],
      ['hadErrors=true', left.filter(({ hadErrors }) => hadErrors)],
      [`from=${oldest}`, left],
      [`nodeId=${gone.nodeId}`, []],
    ];
    for (const [query, wanted] of queries) {
      const reply = await hawser.admin.get(`${ALL}?${query}`);
      expect(reply.json, query).to.deep.equal(wanted);
      expect(reply.headers['x-total-count'], query).to.equal(String(wanted.length));
    }
  });
});
