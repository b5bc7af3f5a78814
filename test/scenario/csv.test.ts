// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { addEntries } from '../support/audit-table.ts';
import type { Client } from '../support/client.ts';
import { cellsOf, parseCsv } from '../support/csv.ts';
import { withDatabase } from '../support/database.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { lastCallWritten } from '../support/last-call.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { askWithoutReading } from '../support/unread-answer.ts';

const CSV = { Accept: 'text/csv' };
const NODES = '/api/v1/nodes';
const REPORTS = '/api/v1/reports';
const AUDIT = '/api/v1/audit';

describe('a list as CSV', () => {
  const hawser = started(startHawser);
  let nodes: NodeUnderTest[];

  before(async () => {
    nodes = [];
    for (const name of ['web-02', 'web-01', 'db-01'])
      nodes.push(await hawser.registerNode(`${name}.example.org`));
    const calls = new Map<string, number>();
    const report = async ({ nodeId, client }: NodeUnderTest, body: object) => {
      calls.set(nodeId, hawser.clock.now());
      await ok(201, client.post(`${NODES}/${nodeId}/reports`, body));
    };
    for (const node of nodes)
      for (const isGood of [true, false])
        await report(node, { operation: 'Test', result: testOutput([testedService(isGood)]) });
    await report(node0(), { operation: 'Get', result: testOutput([]) });
    // Else the list might change before it is read as CSV.
    for (const [nodeId, at] of calls) await lastCallWritten(hawser.admin, nodeId, at);
  });

  const node0 = () => nodes[0] as NodeUnderTest;

  async function csvOf(path: string, client: Client = hawser.admin): Promise<string[][]> {
    const reply = await client.get(path, CSV);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers['content-type']).to.match(/^text\/csv\b/);
    return parseCsv(reply.text);
  }

  async function expectSameAsJson(path: string, length: number): Promise<void> {
    const items = await ok(200, hawser.admin.get(path));
    expect(items, path).to.have.length(length);
    const [header, ...lines] = await csvOf(path);
    expect(header).to.deep.equal(Object.keys(items[0]));
    expect(lines).to.deep.equal(items.map(cellsOf));
  }

  it('has what the list has as JSON, in its order, with the same filters', async () => {
    await expectSameAsJson(NODES, 3);
    await expectSameAsJson(`${NODES}?fqdn=web&status=noncompliant`, 2);
    await expectSameAsJson(`${NODES}/?hasParameterProblems=false&fqdn=01`, 2);
    await expectSameAsJson(`${NODES}?sort=-fqdn`, 3);
    await expectSameAsJson(`${NODES}?sort=lastCheckIn&unassigned=true`, 3);
    await expectSameAsJson(REPORTS, 7);
    await expectSameAsJson(`${REPORTS}?inDesiredState=false`, 3);
    await expectSameAsJson(`${REPORTS}?nodeId=${node0().nodeId}`, 3);
    await expectSameAsJson(`${NODES}/${node0().nodeId}/reports/?operation=Get`, 1);
    await expectSameAsJson(`${NODES}/${node0().fqdn}/reports`, 3);
    await expectSameAsJson(`${AUDIT}?action=node.registered`, 3);
  });

  it('has a header line also where nothing matches', async () => {
    for (const path of [
      `${NODES}?fqdn=nothing`,
      `${REPORTS}?to=1970-01-02T00:00:00Z`,
      `${AUDIT}?action=none`,
    ]) {
      const lines = await csvOf(path);
      expect(lines, path).to.have.length(1);
      expect(lines[0]).to.include('id');
    }
  });

  it('has all of it, whatever take and skip are', async () => {
    for (const paging of ['take=1', 'take=1&skip=2', 'take=nonsense', 'skip=-1', 'take=1&take=2']) {
      expect(await csvOf(`${NODES}?${paging}`), paging).to.have.length(4);
      expect(await csvOf(`${REPORTS}?${paging}`), paging).to.have.length(8);
      expect(await csvOf(`${AUDIT}?action=node.registered&${paging}`), paging).to.have.length(4);
    }
    await expectProblem(hawser.admin.get(`${NODES}?take=nonsense`), 400, 'validation_failed');
  });

  it('is sent to whoever likes it better than JSON', async () => {
    const typeFor = async (Accept: string) => {
      const reply = await hawser.admin.get(NODES, { Accept });
      expect(reply.status, `${Accept} ${reply.text}`).to.equal(200);
      return String(reply.headers['content-type']).split(';', 1)[0];
    };
    for (const accept of [
      ...['text/csv', 'text/csv; charset=utf-8', 'TEXT/CSV', 'text/*', 'text/csv, application/json;q=0.9'],
      ...['application/json;q=0.1, */*;q=0, text/csv;q=0.2', '*/*;q=0.5, text/csv'],
    ])
      expect(await typeFor(accept), accept).to.equal('text/csv');
    for (const accept of [
      ...['*/*', 'application/json', 'application/json; charset=utf-8', 'application/*', 'text/csv;q=0, */*'],
      ...['text/csv;q=0.5, application/json', 'application/json, text/csv'],
    ])
      expect(await typeFor(accept), accept).to.equal('application/json');
    for (const Accept of ['text/html', 'text/csv;q=0'])
      await expectProblem(hawser.admin.get(NODES, { Accept }), 406, 'not_acceptable');
    await expectProblem(hawser.admin.get('/api/v1/roles', CSV), 406, 'not_acceptable');
  });

  it('is refused as JSON is', async () => {
    for (const path of [
      `${NODES}?nonsense=1`,
      `${NODES}?stale=perhaps`,
      `${REPORTS}?Take=1`,
      `${AUDIT}?action=%00`,
    ])
      await expectProblem(hawser.admin.get(path, CSV), 400, 'validation_failed', path);
    await expectProblem(hawser.admin.get(`${NODES}/${newId()}/reports`, CSV), 404, 'not_found');
    const viewer = await makeUser(hawser, { username: 'viewer', roles: ['Viewer'] });
    expect(await csvOf(NODES, viewer)).to.have.length(4);
    for (const path of [REPORTS, AUDIT]) await expectProblem(viewer.get(path, CSV), 403, 'forbidden');
    await expectProblem(hawser.client().get(NODES, CSV), 401, 'unauthenticated');
  });

  it('is announced to HEAD', async () => {
    const reply = await hawser.admin.call('HEAD', NODES, { headers: CSV });
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.match(/^text\/csv\b/);
    expect(reply.bytes).to.have.length(0);
  });

  it('holds nothing that a spreadsheet would take for a formula', async () => {
    const names = ['=1+1', 'a\r\nb'];
    await addEntries(
      hawser,
      names.map((actor_name) => ({ actor_name, action: 'test.formula' })),
    );
    const [header = [], ...lines] = await csvOf(`${AUDIT}?action=test.formula`);
    const column = header.indexOf('actorName');
    expect(lines.map((line) => line[column]).reverse()).to.deep.equal(["'=1+1", 'a\r\nb']);
  });

  describe('of 20,000 rows', () => {
    const PATH = `${AUDIT}?action=test.many`;
    const COUNT = 20_000;
    /** With these, the whole list is far larger than what connections hold by themselves. */
    const details = JSON.stringify({ text: 'x'.repeat(1_500) });

    before(async () => {
      await addEntries(
        hawser,
        Array.from({ length: COUNT }, (_, index) => ({
          action: 'test.many',
          details,
          timestamp: Math.floor(index / 7),
        })),
      );
    });

    const ask = () => {
      const headers = { ...CSV, Cookie: hawser.session };
      return askWithoutReading(hawser.target(), {}, PATH, headers);
    };
    const idsOf = (text: string) =>
      parseCsv(text)
        .slice(1)
        .map(([id]) => id);

    it('has each of them once, the newest first', async () => {
      const ids = idsOf((await hawser.admin.get(PATH, CSV)).text);
      const stored = await withDatabase(hawser, ({ read }) =>
        read
          .selectFrom('audit_entries')
          .select('id')
          .where('action', '=', 'test.many')
          .orderBy('seq', 'desc')
          .execute(),
      );
      expect(ids.length).to.equal(COUNT);
      expect(ids.join()).to.equal(stored.map(({ id }) => id).join());
    });

    it('is read from the disk only as the client takes it, and others are answered meanwhile', async () => {
      const readers = await Promise.all(Array.from({ length: 4 }, ask));
      await ok(200, node0().client.get(`${NODES}/${node0().nodeId}/lcm-config`));
      await ok(200, hawser.admin.get(`${AUDIT}?take=1`));
      // What is written while the list is on its way comes before its first line, and what is deleted is not sent.
      await addEntries(hawser, [{ action: 'test.many', timestamp: COUNT }]);
      await withDatabase(hawser, ({ write }) =>
        write
          .deleteFrom('audit_entries')
          .where('action', '=', 'test.many')
          .where('timestamp', '<', 7)
          .execute(),
      );
      for (const reader of readers) {
        const ids = idsOf((await reader.read()).toString());
        expect(new Set(ids).size).to.equal(ids.length);
        expect(ids.length).to.equal(COUNT - 49);
      }
    });

    it('is not sent on to a client that has gone', async () => {
      const reader = await ask();
      reader.breakOff();
      await eventually(async () =>
        expect(hawser.log()).to.match(/"path":"\/api\/v1\/audit".*"brokenOff":true/),
      );
      await ok(200, hawser.admin.get(NODES));
    });
  });
});
