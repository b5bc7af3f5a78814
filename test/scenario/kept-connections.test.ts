// everyday: SQLite
import { expect } from 'chai';
import { HOUR } from '../../src/lib/clock.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import { PooledClient, type PooledReply } from '../support/keep-alive-pool.ts';
import { announce } from '../support/rotation.ts';
import { started } from '../support/started.ts';

const KEPT = 3;

describe('an agent that keeps connections and goes on with the certificate of their handshake', () => {
  const hawser = started(startHawser);
  let pool: PooledClient;
  let nodeId: string;
  let next: ClientCertificate;
  let round = 0;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
  });

  beforeEach(async () => {
    round += 1;
    const commonName = `kept-${round}.example.org`;
    const now = hawser.clock.now();
    const first = await makeClientCertificate({ commonName, notBefore: now - HOUR, notAfter: now + HOUR });
    next = await makeClientCertificate({ commonName, notBefore: now, notAfter: now + 24 * HOUR });
    pool = new PooledClient(hawser.target(), first);
    const registrationKey = await createKey(hawser.admin);
    const body = { registrationKey, fqdn: commonName };
    const reply = await hawser.client(first).post('/api/v1/nodes/register', body);
    nodeId = reply.json.nodeId;
    const assigned = { configurationName: 'web' };
    await hawser.admin.put(`/api/v1/nodes/${nodeId}/configuration`, assigned);
    expect(carriersOf(await callAtOnce(KEPT))).to.have.length(KEPT);
  });
  afterEach(() => pool.close());

  const poll = () => pool.call('GET', `/api/v1/nodes/${nodeId}/configuration/checksum`);
  const report = () => pool.call('PUT', `/api/v1/nodes/${nodeId}/lcm-status`, { lcmStatus: 'Testing' });
  const callAtOnce = (count: number) => Promise.all(Array.from({ length: count }, poll));
  const carriersOf = (replies: PooledReply[]) => [...new Set(replies.map(({ carrier }) => carrier))];
  const current = async (): Promise<string> =>
    (await hawser.admin.get(`/api/v1/nodes/${nodeId}`)).json.certificate.thumbprint;

  /** As the agent does: the new certificate is on its disk before the server is told. */
  async function rotate(): Promise<PooledReply> {
    pool.identity = next;
    const reply = await pool.call('POST', `/api/v1/nodes/${nodeId}/rotate-certificate`, announce(next));
    expect(reply.status).to.equal(200);
    return reply;
  }

  it('is answered its rotation with the end of the connection, and no call before it', async () => {
    expect(await poll()).to.include({ status: 200, connection: 'keep-alive' });
    const { connection, carrier } = await rotate();
    expect(connection).to.equal('close');
    expect(carriersOf(await callAtOnce(2 * KEPT))).to.not.include(carrier);
  });

  it('loses no call, by one connection after the other, and shows the new certificate', async () => {
    await rotate();
    const replies: PooledReply[] = [];
    for (let count = 0; count < 2 * KEPT; count += 1) replies.push(await (count % 2 ? poll() : report()));
    expect(await current()).to.equal(next.thumbprint);
    hawser.clock.advance(2 * HOUR);
    for (let count = 0; count < 2 * KEPT; count += 1) replies.push(await (count % 2 ? poll() : report()));
    const lost = replies.filter(({ status }) => status !== 200 && status !== 204);
    expect(lost).to.deep.equal([]);
    const ended = replies.filter(({ connection }) => connection === 'close');
    expect(ended, 'each other old connection, once').to.have.length(KEPT - 1);
    expect(carriersOf(replies.slice(KEPT)), 'and then one is kept again').to.have.length(1);
  });

  it('loses no call, by all connections at once', async () => {
    await rotate();
    const replies = [...(await callAtOnce(KEPT - 1)), ...(await callAtOnce(KEPT))];
    expect(await current()).to.equal(next.thumbprint);
    hawser.clock.advance(2 * HOUR);
    replies.push(...(await callAtOnce(2 * KEPT)));
    expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 200));
  });

  it('keeps its connections when the announcement is taken back, or is of one that has expired', async () => {
    const own = pool.identity;
    await rotate();
    pool.identity = own;
    expect((await poll()).connection).to.equal('close');
    await pool.call('POST', `/api/v1/nodes/${nodeId}/rotate-certificate`, announce(own));
    expect((await poll()).connection).to.equal('keep-alive');
    const short = await makeClientCertificate({
      commonName: 'short',
      notAfter: hawser.clock.now() + HOUR / 2,
    });
    await pool.call('POST', `/api/v1/nodes/${nodeId}/rotate-certificate`, announce(short));
    expect((await poll()).connection).to.equal('close');
    hawser.clock.advance(HOUR / 2);
    expect((await poll()).connection).to.equal('keep-alive');
  });
});
