import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { schemaOf } from '../support/parameter-schemas.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem } from '../support/replies.ts';

const MIB = 1024 * 1024;

/** Some 84 KB that take much work for their size; no two are the same. */
let documents = 0;
const dearDocument = () => {
  documents += 1;
  return `parameters: {a: [${'{},'.repeat(28_000)}]} # ${documents}`;
};

describe('what takes long to be read', function () {
  this.timeout(180_000);
  let hawser: Hawser;
  let admin: Client;
  let node: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    hawser = await startHawser();
    admin = hawser.admin;
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    node = await hawser.registerNode('web-01.example.org');
    other = await hawser.registerNode('web-02.example.org');
    for (const each of [node, other]) await assign(hawser, each, 'web');
  });
  after(() => hawser.close());

  const validate = (client: Client, body = dearDocument()) =>
    client.call('POST', `${schemaOf('web')}/validate`, {
      headers: { 'Content-Type': 'application/yaml' },
      body,
    });
  const pathOf = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}/reports`;
  const send = (from: NodeUnderTest, body: string) =>
    from.client.call('POST', pathOf(from), { headers: { 'Content-Type': 'application/json' }, body });

  /** Names in the order in which their answers came, the names of many of a kind but once, with their number. */
  async function orderOf(work: Record<string, Promise<unknown>[]>): Promise<string[]> {
    const order: string[] = [];
    const all = Object.entries(work).flatMap(([name, each]) =>
      each.map((one) => one.then(() => order.push(name))),
    );
    await Promise.all(all);
    return order;
  }

  const times = <T>(count: number, make: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => make(at));

  it('does not keep a poll waiting, nor another user, while one has many documents read', async () => {
    // A thread is there, so that the order is not that of its start.
    expect((await validate(admin)).status).to.equal(200);
    const { checksum } = (await poll(other)).json;
    const person = await makeUser(hawser, { username: 'second', roles: ['Administrator'] });
    const many = times(16, () => validate(admin));
    const polls = times(3, async (at) => {
      await new Promise((resolve) => setTimeout(resolve, 20 * at));
      const reply = await poll(other, checksum);
      expect(reply.status).to.equal(304);
    });
    const one = validate(person.client);
    const order = await orderOf({ many, polls, one: [one] });
    for (const reply of [...(await Promise.all(many)), await one]) expect(reply.json.isValid).to.equal(true);
    expect(order.slice(-8)).to.deep.equal(times(8, () => 'many'));
  });

  it('does not keep a poll or a large report of another node waiting while one hands in many', async () => {
    const result = `{"hadErrors":false,"results":[${'{},'.repeat(1_400_000)}{}]}`;
    const body = `{"operation":"Test","result":${result}}`;
    expect((await send(other, body)).status).to.equal(201);
    const { checksum } = (await poll(other)).json;
    const many = times(10, () => send(node, body));
    const polled = poll(other, checksum);
    const small = send(other, '{"operation":"Test","result":{"hadErrors":false}}');
    const large = send(other, body);
    const order = await orderOf({ many, polled: [polled], small: [small], large: [large] });
    expect((await polled).status).to.equal(304);
    for (const { status } of await Promise.all([...many, small, large])) expect(status).to.equal(201);
    expect(order.slice(-4)).to.deep.equal(times(4, () => 'many'));
  });

  it('is judged as what is small', async () => {
    const filler = ' '.repeat(300 * 1024);
    const wrong: [name: string, body: string][] = [
      ['no JSON', '{"operation":"Test",'],
      ['no members', '{}'],
      ['a list', '[]'],
      ['no operation', '{"operation":"Look","result":{"hadErrors":1}}'],
      ['a result without objects', '{"operation":"Test","result":{"hadErrors":false,"results":[{},1]}}'],
    ];
    for (const [name, body] of wrong) {
      const small = await expectProblem(send(node, body), 400, 'validation_failed', name);
      const large = await expectProblem(send(node, body + filler), 400, 'validation_failed', name);
      // The place of a fault in JSON is only looked for in short texts.
      const withoutPlace = JSON.stringify(small.json).replaceAll(/\. Line [^"]*/g, '');
      expect(large.json, name).to.deep.equal(JSON.parse(withoutPlace));
    }
    const bytes = Buffer.concat([Buffer.from(`{"operation":"Test${filler}`), Buffer.from([0xff])]);
    const headers = { 'Content-Type': 'application/json' };
    const reply = node.client.call('POST', pathOf(node), { headers, body: bytes });
    await expectProblem(reply, 400, 'validation_failed: malformed_json');
  });

  it('is kept as it came: large numbers, order, spacing', async () => {
    const result = `{"z": 12345678901234567890, "hadErrors" : false, "a":1.0,"fill":"${'é'.repeat(200_000)}"}`;
    const reply = await send(node, `{ "result":${result} ,"operation":"Get"}`);
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.json).to.include({ operation: 'Get', inDesiredState: null, hadErrors: false });
    const { text } = await admin.get(`/api/v1/reports/${reply.json.id}`);
    expect(text.endsWith(`"result":${result}}`)).to.equal(true);
  });

  describe('the reports of a node', () => {
    const report = (bytes: number) => {
      const [start, end] = ['{"operation":"Test","result":{"hadErrors":false,"fill":"', '"}}'];
      return start + 'x'.repeat(bytes - start.length - end.length) + end;
    };
    let third: NodeUnderTest;
    before(async () => {
      third = await hawser.registerNode('web-03.example.org');
    });
    const total = async () => Number((await admin.get(`${pathOf(third)}?take=1`)).headers['x-total-count']);

    it('are 64 MiB of those that are taken in an hour, however many are sent at once', async () => {
      // What is not taken does not count.
      for (let at = 0; at < 3; at += 1)
        await expectProblem(send(third, `{"x":"${'x'.repeat(4 * MIB)}"}`), 400, 'validation_failed');
      const statuses = (await Promise.all(times(20, () => send(third, report(4 * MIB))))).map(
        ({ status }) => status,
      );
      expect(statuses.filter((status) => status === 201)).to.have.length(16);
      expect(statuses.filter((status) => status === 429)).to.have.length(4);
      expect(await total()).to.equal(16);
      const refused = await expectProblem(send(third, report(100)), 429, 'rate_limited');
      const seconds = Number(refused.headers['retry-after']);
      expect(seconds).to.be.within(3_000, 3_660);
      expect((await send(node, report(1_000))).status).to.equal(201);
      expect((await third.client.get(`${configurationPath(third)}/checksum`)).status).to.equal(404);
      hawser.clock.advance(seconds * 1_000);
      expect((await send(third, report(100))).status).to.equal(201);
      expect(await total()).to.equal(17);
    });
  });
});
