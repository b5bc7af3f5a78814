// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { MINUTE, SECOND, toTimestamp } from '../../src/lib/clock.ts';
import type { Client, Reply } from '../support/client.ts';
import { exportOutput, getOutput, setOutput, testedService, testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const REPORTS = '/api/v1/reports';
const pathOf = (node: NodeUnderTest) => `/api/v1/nodes/${node.nodeId}/reports`;
const report = (node: NodeUnderTest, operation: string, result: unknown): Promise<Reply> =>
  node.client.post(pathOf(node), { operation, result });

const SHA256 = 'ab'.repeat(32);

describe('a report', () => {
  const hawser = started(() => startHawser({ HAWSER_REPORT_LIMIT: '100KiB' }));
  let node: NodeUnderTest;
  let nodes = 0;

  beforeEach(async () => {
    nodes += 1;
    node = await hawser.registerNode(`web-${nodes}.example.org`);
  });

  const statusOf = async (nodeId = node.nodeId) =>
    (await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.status;
  const history = async () =>
    (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}/status-history`)).json as Record<string, unknown>[];
  const totalOf = async (path = pathOf(node)) =>
    Number((await hawser.admin.get(`${path}?take=1`)).headers['x-total-count']);
  const sendRaw = (body: string, client: Client = node.client) =>
    client.call('POST', pathOf(node), { headers: { 'Content-Type': 'application/json' }, body });
  const resultText = async (id: string) => {
    const { text } = await hawser.admin.get(`${REPORTS}/${id}`);
    return text.slice(text.indexOf('"result":') + '"result":'.length, -1);
  };

  const outputs: [string, string, unknown, boolean | null, boolean, string][] = [
    ['a Test in the desired state', 'Test', testOutput([testedService(true)]), true, false, 'Compliant'],
    ['a Test that is not', 'Test', testOutput([testedService(false)]), false, false, 'NonCompliant'],
    ['a Set with errors', 'Set', setOutput(true), true, true, 'Error'],
    ['a Get', 'Get', getOutput(), null, false, 'Unknown'],
    ['an Export', 'Export', exportOutput(), null, false, 'Unknown'],
    ['the least there can be', 'Test', { hadErrors: false }, null, false, 'Unknown'],
    [
      'nulls for what is absent',
      'Set',
      { metadata: null, messages: null, results: null, hadErrors: false },
      ...([true, false, 'Compliant'] as const),
    ],
  ];
  for (const [name, operation, result, inDesiredState, hadErrors, status] of outputs) {
    it(`is taken: ${name}`, async () => {
      const reply = await report(node, operation, result);
      expect(reply.status, reply.text).to.equal(201);
      const { id, timestamp, outOfState, firstFault, ...summary } = reply.json;
      expect([outOfState, firstFault?.kind ?? null]).to.deep.equal([
        ...[inDesiredState === false ? 1 : 0, hadErrors || inDesiredState === false ? 'Report' : null],
      ]);
      expect(summary).to.deep.equal({
        ...{ nodeId: node.nodeId, nodeFqdn: node.fqdn, operation, inDesiredState, hadErrors },
        ...{ configurationChecksum: null, checksumSource: null, configurationName: null, version: null },
      });
      expect(reply.headers['location']).to.equal(`${REPORTS}/${id}`);
      expect(timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const detail = await hawser.admin.get(`${REPORTS}/${id}`);
      expect(detail.json).to.deep.equal({ ...reply.json, result });
      expect((await hawser.admin.get(pathOf(node))).json).to.deep.equal([reply.json]);
      expect(await statusOf()).to.equal(status);
    });
  }

  it('takes the operation in any case, a trailing slash, and members that it does not know', async () => {
    const result = { hadErrors: false, executionInformation: { duration: 'PT1S' }, results: [{ kept: [1] }] };
    const body = { operation: 'tEST', result, agentVersion: '9.9', timestamp: '2001-01-01T00:00:00Z' };
    const reply = await node.client.post(`${pathOf(node)}/`, body);
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.json).to.have.property('operation', 'Test');
    expect(reply.json).to.not.have.any.keys('agentVersion', 'result');
    expect(Date.now() - Date.parse(reply.json.timestamp), 'the time is ours').to.be.within(-SECOND, MINUTE);
    expect((await hawser.admin.get(`${REPORTS}/${reply.json.id}`)).json.result).to.deep.equal(result);
  });

  it('keeps the result to the last character: large numbers, order, spacing, names given twice', async () => {
    const result =
      '{ "hadErrors" : false,\n "z":12345678901234567890.0, "a":1e400, "z":[0.10, -0],\t"ü":"\\u00fc \\ud800\\u0000",' +
      ' "__proto__":{"results":[]}, "constructor":null }';
    const reply = await sendRaw(`{"x":{"result":0},"operation":"Get", "result" :${result} , "y":"}"}`);
    expect(reply.status, reply.text).to.equal(201);
    expect(await resultText(reply.json.id)).to.equal(result);
  });

  it('moves the node with every change of its verdict, and tells of it once', async () => {
    const steps: [string, unknown, string | null][] = [
      ['Test', testOutput([testedService(true)]), 'Compliant'],
      ['Test', testOutput([testedService(true)]), null],
      ['Get', getOutput(), null],
      ['Export', { hadErrors: true }, null],
      ['Test', testOutput([testedService(false)]), 'NonCompliant'],
      ['Set', setOutput(), 'Compliant'],
      ['Set', setOutput(true), 'Error'],
      ['Test', testOutput([], true), null],
      ['Test', testOutput([]), 'Unknown'],
    ];
    const expected: string[] = [];
    for (const [operation, result, moved] of steps) {
      expect((await report(node, operation, result)).status).to.equal(201);
      if (moved !== null) expected.unshift(moved);
      expect(await statusOf()).to.equal(expected[0]);
    }
    const events = await history();
    expect(events.map(({ status }) => status)).to.deep.equal(expected);
    for (const event of events) expect(event).to.include({ nodeId: node.nodeId, lcmStatus: null });
  });

  it('counts as a sign of life', async () => {
    await report(node, 'Get', getOutput());
    hawser.clock.advance(10 * MINUTE);
    const before = hawser.clock.now();
    await report(node, 'Get', getOutput());
    await eventually(async () => {
      const { lastCheckIn } = (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`)).json;
      expect(Date.parse(lastCheckIn)).to.be.at.least(before);
    });
  });

  it('names what the node ran, in any case, or nothing', async () => {
    const result = { hadErrors: false };
    const named = { operation: 'Get', configurationChecksum: SHA256.toUpperCase(), result };
    const first = await node.client.post(pathOf(node), named);
    expect(first.status, first.text).to.equal(201);
    expect(first.json).to.include({ configurationChecksum: SHA256, checksumSource: 'Declared' });
    const second = await node.client.post(pathOf(node), { ...named, configurationChecksum: null });
    expect(second.json).to.include({ configurationChecksum: null, checksumSource: null });
    const shown = (await hawser.admin.get(pathOf(node))).json;
    expect(shown).to.deep.equal([second.json, first.json]);
    const all = (await hawser.admin.get(`${REPORTS}?nodeId=${node.nodeId}`)).json;
    expect(all).to.deep.equal(shown);
    const large = { ...named, result: { hadErrors: false, text: 'x'.repeat(80_000) } };
    expect((await node.client.post(pathOf(node), large)).json.checksumSource).to.equal('Declared');
  });

  describe('that is refused', () => {
    const good = { operation: 'Test', result: { hadErrors: false } };
    const bad: [string, unknown, string][] = [
      ['another operation', { ...good, operation: 'Delete' }, '/operation'],
      ['no operation', { result: good.result }, '/operation'],
      ['no result', { operation: 'Test' }, '/result'],
      ['a null for a result', { ...good, result: null }, '/result'],
      ['a list for a result', { ...good, result: [] }, '/result'],
      ['a result without hadErrors', { ...good, result: { results: [] } }, '/result/hadErrors'],
      ['hadErrors as text', { ...good, result: { hadErrors: 'false' } }, '/result/hadErrors'],
      ['results as an object', { ...good, result: { hadErrors: false, results: {} } }, '/result/results'],
      [
        'a result that is no object',
        { ...good, result: { hadErrors: false, results: [{}, 7] } },
        '/result/results/1',
      ],
      ['a list', [good], ''],
      ['a short checksum', { ...good, configurationChecksum: 'ab' }, '/configurationChecksum'],
      ['no hex', { ...good, configurationChecksum: SHA256.replace('a', 'g') }, '/configurationChecksum'],
      ['a line break', { ...good, configurationChecksum: `${SHA256}\n` }, '/configurationChecksum'],
    ];
    for (const [name, body, path] of bad) {
      it(`for its body: ${name}`, async () => {
        const reply = await expectInvalid(node.client.post(pathOf(node), body));
        expect(reply.json.errors.map((error: { path: string }) => error.path)).to.include(path);
        expect(await totalOf()).to.equal(0);
        expect(await statusOf()).to.equal('Unknown');
      });
    }

    it('for its bytes: none, garbage, JSON that is cut off, Latin-1', async () => {
      const garbage = ['', 'garbage', '{"operation":"Test","result":{"hadErrors":fal', '\u0000'];
      for (const body of garbage) {
        const reply = await sendRaw(body);
        await expectProblem(reply, 400, 'validation_failed: malformed_json', body);
      }
      const latin1 = await node.client.call('POST', pathOf(node), {
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.from('{"operation":"Get","result":{"hadErrors":false,"x":"\xfc"}}', 'latin1'),
      });
      await expectProblem(latin1, 400, 'validation_failed: malformed_json');
      const typed = await node.client.call('POST', pathOf(node), { body: JSON.stringify(good) });
      expect(typed.status).to.equal(415);
      expect(await totalOf()).to.equal(0);
    });

    it('for its size, up to which it is taken', async () => {
      const limit = 100 * 1024;
      const sized = (size: number) => {
        const [start, end] = ['{"operation":"Get","result":{"hadErrors":false,"text":"', '"}}'];
        return start + 'x'.repeat(size - start.length - end.length) + end;
      };
      const reply = await sendRaw(sized(limit + 1));
      expect(`${reply.status} ${reply.json.code}`).to.equal('413 payload_too_large');
      expect(await totalOf()).to.equal(0);
      expect((await sendRaw(sized(limit))).status).to.equal(201);
      expect((await report(node, 'Get', getOutput())).status, 'the connection goes on').to.equal(201);
    });

    it('for its flood, until it has paused; other nodes go on', async () => {
      const other = await hawser.registerNode(`calm-${nodes}.example.org`);
      const flood = await Promise.all(Array.from({ length: 200 }, () => report(node, 'Get', getOutput())));
      const taken = flood.filter(({ status }) => status === 201).length;
      const refused = flood.find(({ status }) => status === 429);
      // The clock runs on while they come in, a few at a time: some more than the burst.
      expect(taken).to.be.within(120, 190);
      expect(new Set(flood.map(({ status }) => status))).to.deep.equal(new Set([201, 429]));
      expect(refused?.json).to.include({ code: 'rate_limited', status: 429 });
      const wait = Number(refused?.headers['retry-after']);
      expect(wait).to.be.within(1, 60);
      expect((await report(other, 'Get', getOutput())).status).to.equal(201);
      expect((await node.client.get('/api/v1/nodes/none')).status, 'only reports are refused').to.equal(403);
      expect(await totalOf(), 'what was taken is there').to.equal(taken);
      hawser.clock.advance(wait * SECOND);
      expect((await report(node, 'Get', getOutput())).status).to.equal(201);
    });
  });

  it('goes with its node, and a deleted node reports no more', async () => {
    const { id } = (await report(node, 'Test', testOutput([testedService(true)]))).json;
    const before = await totalOf(REPORTS);
    expect((await hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`)).status).to.equal(204);
    expect((await report(node, 'Get', getOutput())).status).to.equal(401);
    expect((await hawser.admin.get(`${REPORTS}/${id}`)).status).to.equal(404);
    expect((await hawser.admin.get(pathOf(node))).status).to.equal(404);
    expect(await totalOf(REPORTS)).to.equal(before - 1);
  });

  it('of many nodes at once are all there, each with the verdict of its own', async () => {
    const fleet = await Promise.all(
      Array.from({ length: 64 }, (_, index) => hawser.registerNode(`fleet-${nodes}-${index}.example.org`)),
    );
    const before = await totalOf(REPORTS);
    const isGood = (index: number) => index % 3 !== 0;
    const replies = await Promise.all(
      fleet.flatMap((one, index) => [
        report(one, 'Test', testOutput([testedService(isGood(index))])),
        report(one, 'Get', getOutput()),
      ]),
    );
    for (const reply of replies) expect(reply.status, reply.text).to.equal(201);
    expect(new Set(replies.map((reply) => reply.json.id)).size).to.equal(128);
    expect(await totalOf(REPORTS)).to.equal(before + 128);
    for (const [index, one] of fleet.entries()) {
      expect(await totalOf(pathOf(one))).to.equal(2);
      expect(await statusOf(one.nodeId)).to.equal(isGood(index) ? 'Compliant' : 'NonCompliant');
    }
  });

  it('is not lost on a node that is deleted under its reports: each is taken or refused as such', async () => {
    const fleet = await Promise.all(
      Array.from({ length: 12 }, (_, index) => hawser.registerNode(`gone-${nodes}-${index}.example.org`)),
    );
    const sending = fleet.flatMap((one) => [1, 2, 3].map(() => report(one, 'Set', setOutput())));
    const deleted = fleet.filter((_, index) => index % 2 === 0);
    await Promise.all(deleted.map(({ nodeId }) => hawser.admin.delete(`/api/v1/nodes/${nodeId}`)));
    const replies = await Promise.all(sending);
    for (const [index, reply] of replies.entries()) {
      const isDeleted = Math.floor(index / 3) % 2 === 0;
      expect(reply.status, reply.text).to.be.oneOf(isDeleted ? [201, 401] : [201]);
    }
    for (const [index, one] of fleet.entries()) {
      if (index % 2 === 1) expect(await totalOf(pathOf(one))).to.equal(3);
    }
    const all = (await hawser.admin.get(`${REPORTS}?take=1000`)).json as { nodeId: string }[];
    expect(all.filter(({ nodeId }) => deleted.some((one) => one.nodeId === nodeId))).to.have.length(0);
    expect(await totalOf(REPORTS)).to.equal(all.length);
  });

  it('that does not exist is 404, whatever its id looks like', async () => {
    for (const id of ['00000000-0000-0000-0000-000000000000', 'none', '%00', toTimestamp(0)]) {
      expect((await hawser.admin.get(`${REPORTS}/${id}`)).status, id).to.equal(404);
      expect((await hawser.admin.get(`/api/v1/nodes/${id}/reports`)).status, id).to.equal(404);
    }
  });
});

describe('a large report, with nothing set', () => {
  const LIMIT = 5 * 1024 * 1024;
  const [start, end] = ['{"operation":"Test","result":{"hadErrors":false,"results":', '}}'];
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
  });

  const send = (results: string) =>
    node.client.call('POST', pathOf(node), {
      headers: { 'Content-Type': 'application/json' },
      body: start + results + end,
    });
  const room = LIMIT - start.length - end.length;
  const nested = (levels: number, said: string) =>
    `${'[{"result":'.repeat(levels)}{"inDesiredState":${said}}${'}]'.repeat(levels)}`;

  it('is taken up to 5 MiB, however deep its groups are, and comes back as it was', async () => {
    const results = nested(400_000, 'false');
    const reply = await send(results + ' '.repeat(room - results.length));
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.json.inDesiredState).to.equal(false);
    const detail = await hawser.admin.get(`${REPORTS}/${reply.json.id}`);
    expect(detail.status).to.equal(200);
    expect(detail.text.includes(results)).to.equal(true);
    expect(detail.bytes.length).to.be.greaterThan(room);
  });

  it('is refused above, and the connection goes on', async () => {
    const reply = await send(`[${' '.repeat(room)}]`);
    expect(`${reply.status} ${reply.json.code}`).to.equal('413 payload_too_large');
    expect((await send(nested(3, 'true'))).json).to.include({ inDesiredState: true });
    const { headers } = await hawser.admin.get(pathOf(node));
    expect(headers['x-total-count']).to.equal('2');
  });
});
