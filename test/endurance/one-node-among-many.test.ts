import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { getOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import {
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { type OpenRequest, openRequest } from '../support/open-request.ts';
import { Wire } from '../support/wire.ts';

const CALLS = 12;
const CONNECTIONS = 16;
const OF_ONE_NODE = 8;
/** Bundles of 60 KB, each handed over in one go. */
const UNREAD = 1_500;

const until = (check: () => Promise<boolean>) => eventually(async () => expect(await check()).to.equal(true));

describe('one node that asks for more than its share', () => {
  let hawser: Hawser;
  let greedy: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    hawser = await startHawser({}, { nodeCalls: CALLS });
    greedy = await hawser.registerNode('greedy.example.org');
    other = await hawser.registerNode('other.example.org');
    const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n', 'some.bin': Buffer.alloc(60_000, 'x') };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files });
    for (const { nodeId } of [greedy, other]) {
      const path = `/api/v1/nodes/${nodeId}/configuration`;
      expect((await hawser.admin.put(path, { configurationName: 'web' })).status).to.equal(204);
    }
  });
  after(() => hawser.close());

  const pathOf = (node: NodeUnderTest, rest: string) => `/api/v1/nodes/${node.nodeId}/${rest}`;
  const poll = (node: NodeUnderTest) => node.client.get(pathOf(node, 'configuration/checksum'));
  const openReport = (node: NodeUnderTest) =>
    openRequest(hawser.target(), node.identity, { method: 'POST', path: pathOf(node, 'reports') });
  const report = JSON.stringify({ operation: 'Get', result: getOutput() });

  it('holds no place with calls whose bodies do not end: the others are served, and so is it', async () => {
    const held: OpenRequest[] = [];
    for (let count = 0; count < CONNECTIONS - 1; count += 1) held.push(await openReport(greedy));
    for (const call of held) call.write(report.slice(0, 10));
    expect((await poll(other)).status).to.equal(200);
    expect((await poll(greedy)).status).to.equal(200);
    for (const call of held) call.end(report.slice(10));
    // All bodies end at once: some find all the places of one node taken.
    const statuses = await Promise.all(held.map(({ status }) => status));
    expect(statuses).to.include(201);
    expect([201, 503]).to.include.members(statuses);
    expect((await poll(greedy)).status).to.equal(200);
    greedy.client.close();
  });

  it('has 16 connections; one more is told to come again, and ends', async () => {
    const held: OpenRequest[] = [];
    const first = await hawser.registerNode('crowd.example.org');
    first.client.close();
    for (let count = 0; count < CONNECTIONS; count += 1) held.push(await openReport(first));
    const wire = await Wire.open(hawser.target(), first.identity);
    wire.head('GET', pathOf(first, 'configuration/checksum'), {}, 0);
    const refused = await wire.reply();
    expect(refused?.status).to.equal(503);
    expect(JSON.parse(refused?.text ?? '')).to.include({ code: 'overloaded', status: 503 });
    expect(Number(refused?.headers['retry-after'])).to.be.greaterThan(0);
    expect(refused?.headers['connection']).to.equal('close');
    wire.head('GET', pathOf(first, 'configuration/checksum'), {}, 0);
    expect(await wire.reply(), 'the connection is over').to.equal(null);
    expect((await poll(other)).status).to.equal(200);
    held[0]?.abandon();
    await until(async () => (await poll(first)).status !== 503);
    for (const call of held) call.abandon();
  });

  it('has eight answers on their way that it does not read, and takes no place of the others', async () => {
    expect((await greedy.client.get(pathOf(greedy, 'configuration/bundle'))).status).to.equal(200);
    const wire = await Wire.open(hawser.target(), greedy.identity);
    wire.stopReading();
    // More than the system's buffers hold.
    for (let call = 0; call < UNREAD; call += 1)
      wire.head('GET', pathOf(greedy, 'configuration/bundle'), {}, 0);
    const isFull = async () => (await poll(greedy)).status === 503;
    await until(isFull);
    expect((await poll(other)).status).to.equal(200);
    expect((await hawser.admin.get('/api/v1/auth/me')).status).to.equal(200);
    wire.destroy();
    await until(async () => !(await isFull()));
  });

  it('may send many calls in one go, if it reads what they bring', async () => {
    const wire = await Wire.open(hawser.target(), greedy.identity);
    const count = 5 * OF_ONE_NODE;
    for (let call = 0; call < count; call += 1)
      wire.head('GET', pathOf(greedy, 'configuration/checksum'), {}, 0);
    const statuses: unknown[] = [];
    for (let call = 0; call < count; call += 1) statuses.push((await wire.reply())?.status);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    wire.destroy();
  });
});

describe('one node behind a trusted proxy', () => {
  let hawser: Hawser;
  before(async () => {
    hawser = await startHawser({ HAWSER_TRUSTED_PROXIES: '127.0.0.1' });
  });
  after(() => hawser.close());

  const headerOf = (cert: string) => ({
    'Client-Cert': `:${new X509Certificate(cert).raw.toString('base64')}:`,
  });

  async function register(fqdn: string) {
    const { cert } = await makeClientCertificate({ commonName: fqdn });
    const client = hawser.client().with(headerOf(cert));
    const registrationKey = await createKey(hawser.admin);
    const { json } = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
    return { base: `/api/v1/nodes/${json.nodeId}`, client, headers: headerOf(cert) };
  }

  it('has 16 requests in progress; one more is told to come again, and no connection of the proxy ends', async () => {
    const crowd = await register('crowd.example.org');
    const other = await register('other.example.org');
    const held: OpenRequest[] = [];
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const call = { method: 'PUT', path: `${crowd.base}/lcm-status`, headers: crowd.headers };
      held.push(await openRequest(hawser.target(), null, call));
    }
    const connection = await Wire.open(hawser.target());
    const ask = async ({ base, headers }: typeof crowd) => {
      connection.head('GET', `${base}/lcm-config`, headers, 0);
      return connection.reply();
    };
    const refused = await ask(crowd);
    expect(refused?.status).to.equal(503);
    expect(refused?.headers['connection']).to.not.equal('close');
    expect((await ask(other))?.status, 'over the same connection').to.equal(200);
    held[0]?.end(JSON.stringify({ lcmStatus: 'Idle' }));
    expect(await held[0]?.status).to.equal(204);
    await until(async () => (await ask(crowd))?.status === 200);
    for (const call of held) call.abandon();
    connection.destroy();
  });
});

/** A server of a place or two, so that the fleet as a whole meets the limit. */
describe('a server with more calls of nodes than it can carry out', () => {
  let hawser: Hawser;
  let slow: NodeUnderTest;
  let node: NodeUnderTest;
  before(async () => {
    hawser = await startHawser({}, { nodeCalls: 1 });
    slow = await hawser.registerNode('slow.example.org');
    node = await hawser.registerNode('web-01.example.org');
    const files = {
      'main.dsc.yaml': '$schema: x\nresources: []\n',
      'large.bin': Buffer.alloc(8 * 1024 * 1024, 'x'),
    };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files });
    const path = `/api/v1/nodes/${slow.nodeId}/configuration`;
    expect((await hawser.admin.put(path, { configurationName: 'web' })).status).to.equal(204);
  });
  after(() => hawser.close());

  const ask = () => node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`);

  it('tells nodes to come again, each after a time of its own, and serves people and health', async () => {
    const wire = await Wire.open(hawser.target(), slow.identity);
    wire.stopReading();
    wire.head('GET', `/api/v1/nodes/${slow.nodeId}/configuration/bundle`, {}, 0);
    await until(async () => (await ask()).status === 503);
    const waits = new Set<number>();
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const reply = await ask();
      expect(reply.status).to.equal(503);
      expect(reply.json.code).to.equal('overloaded');
      waits.add(Number(reply.headers['retry-after']));
    }
    expect(waits.size).to.be.greaterThan(1);
    for (const wait of waits) expect(wait).to.be.within(5, 30);
    expect((await hawser.admin.get('/api/v1/auth/me')).status).to.equal(200);
    expect((await hawser.client().get('/health/ready')).status).to.equal(200);
    wire.destroy();
    await until(async () => (await ask()).status === 200);
  });
});
