// full: PostgreSQL
/** PostgreSQL is killed, frozen and started again under a running server, which must not be started again for it. */

import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

interface LogLine {
  level: string;
  msg: string;
  code?: string;
  failedRequests?: number;
}

describeOnPostgres('a server whose PostgreSQL goes away', () => {
  let own: OwnCluster;
  let hawser: Hawser;
  let known: NodeUnderTest;
  let path: string;
  let etag: string;
  let bundle: Buffer;

  before(async () => {
    own = await ownCluster();
    const { url } = await own.newDatabase();
    hawser = await startHawser({ HAWSER_DATABASE_URL: url });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    known = await hawser.registerNode('known.example.org');
    path = await assign(known);
    etag = String((await known.client.get(`${path}/checksum`)).headers['etag']);
    bundle = (await known.client.get(`${path}/bundle`)).bytes;
  });
  after(async () => {
    await hawser.close();
    await own.cluster.remove();
  });

  async function assign({ nodeId }: NodeUnderTest): Promise<string> {
    const of = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, hawser.admin.put(of, { configurationName: 'web' }));
    return of;
  }

  async function expectFromMemory(): Promise<void> {
    const unchanged = await known.client.get(`${path}/checksum`, { 'If-None-Match': etag });
    expect(unchanged.status, unchanged.text).to.equal(304);
    const poll = await known.client.get(`${path}/checksum`);
    expect(poll.status, poll.text).to.equal(200);
    expect(poll.headers['etag']).to.equal(etag);
    const download = await known.client.get(`${path}/bundle`);
    expect(download.status, download.text).to.equal(200);
    expect(download.bytes.equals(bundle)).to.equal(true);
  }

  function expectUnavailable(reply: Reply): void {
    expect(reply.status, reply.text).to.equal(503);
    expect(reply.headers['retry-after']).to.match(/^[1-9]\d*$/);
    expect(reply.json.code).to.equal('unavailable');
    expect(reply.text).not.to.match(/select|insert|update|delete|postgres|127\.0\.0\.1/i);
  }

  /** All at once, so that each of them meets PostgreSQL as it is. */
  async function expectTheRestAway(stranger: NodeUnderTest): Promise<void> {
    const { admin, session } = hawser;
    const browser = hawser.client().with({ Cookie: session });
    const report = {
      operation: 'Test',
      startedAt: '2026-11-20T09:00:00Z',
      completedAt: '2026-11-20T09:00:01Z',
    };
    const replies = await Promise.all([
      admin.get('/api/v1/nodes'),
      browser.get('/api/v1/configurations'),
      admin.put(`/api/v1/nodes/${known.nodeId}/configuration`, { configurationName: 'web' }),
      admin.post('/api/v1/admin/registration-keys', {}),
      admin.delete('/api/v1/configurations/web'),
      admin.upload('/api/v1/configurations/web/versions', {
        fields: { version: '9.0.0' },
        files: { 'main.dsc.yaml': 'nine' },
      }),
      hawser.client().post('/api/v1/auth/login', { username: 'admin', password: 'wrong' }),
      known.client.post(`/api/v1/nodes/${known.nodeId}/reports`, report),
      stranger.client.get(`/api/v1/nodes/${stranger.nodeId}/configuration/checksum`),
    ]);
    for (const reply of replies) expectUnavailable(reply);
  }

  const logLines = (): LogLine[] =>
    hawser
      .log()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  /** The log says that PostgreSQL went and that it is back. Each request that failed is at `debug`, and counted. */
  function expectToldOnce(lines: readonly LogLine[]): void {
    const errors = lines.filter(({ level }) => level === 'error').map(({ msg }) => msg);
    expect(errors).to.deep.equal(['PostgreSQL cannot be reached; polls are answered from memory for 30 s']);
    const failed = lines.filter(({ msg, code }) => msg === 'request' && code === 'unavailable');
    expect(failed.filter(({ level }) => level !== 'debug')).to.deep.equal([]);
    const back = lines.filter(({ msg }) => msg === 'PostgreSQL answers again');
    expect(back).to.have.length(1);
    expect(back[0]).to.include({ level: 'info' });
    // Those of `expectTheRestAway`, which is called twice.
    expect(back[0]?.failedRequests).to.be.at.least(18);
  }

  const timesNotedAway = () => hawser.log().split('polls are answered from memory').length - 1;

  async function expectHealth(readiness: number): Promise<void> {
    const client = hawser.client();
    for (const alive of ['/health/', '/health']) expect((await client.get(alive)).status).to.equal(200);
    const ready = await client.get('/health/ready');
    expect(ready.status, ready.text).to.equal(readiness);
  }

  async function expectAllBack(stranger: NodeUnderTest, name: string): Promise<void> {
    await eventually(() => expectHealth(200));
    await expectFromMemory();
    await ok(200, stranger.client.get(`/api/v1/nodes/${stranger.nodeId}/configuration/checksum`));
    await publishConfiguration(hawser.admin, name, { '1.0.0': { 'main.dsc.yaml': 'new' } });
    expect((await hawser.admin.delete(`/api/v1/configurations/${name}`)).status).to.equal(204);
    await hawser.registerNode(`${name}.example.org`);
  }

  for (const [how, take, bring] of [
    ['killed', () => own.cluster.kill(), () => own.cluster.start()],
    ['frozen', async () => own.cluster.freeze(), async () => own.cluster.thaw()],
  ] as const)
    it(`answers polls from memory and all else with 503 while it is ${how}, and goes on with it`, async () => {
      const stranger = await hawser.registerNode(`stranger-${how}.example.org`);
      await assign(stranger);
      await expectFromMemory();
      const before = timesNotedAway();
      const linesBefore = logLines().length;
      // Whatever is answered until it is brought back is answered without it.
      await take();
      try {
        await Promise.all([expectFromMemory(), expectTheRestAway(stranger)]);
        // The server has found out that PostgreSQL is away.
        await eventually(() => expectHealth(503));
        await eventually(async () => expect(timesNotedAway()).to.equal(before + 1));
        await Promise.all([expectFromMemory(), expectTheRestAway(stranger)]);
      } finally {
        await bring();
      }
      await expectAllBack(stranger, `after-${how}`);
      expectToldOnce(logLines().slice(linesBefore));
    });
});
