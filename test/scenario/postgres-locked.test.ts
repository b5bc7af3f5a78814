// full: PostgreSQL
/** Another program on PostgreSQL holds locks for which the writes of a server wait. */

import { expect } from 'chai';
import { FEED_KEY } from '../../src/db/postgres/advisory-keys.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { testOutput } from '../support/dsc-results.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { type OtherProgram, otherProgram } from '../support/postgres/other-program.ts';
import { databaseName, querySharedCluster } from '../support/postgres.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const KEYS = '/api/v1/admin/registration-keys';
const WEB = `${CONFIGURATIONS}/web`;
const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const OF_SQL = /select|insert|update|delete|statement|timeout|lock|relation|postgres|127\.0\.0\.1/i;

describeOnPostgres('a server whose PostgreSQL is locked by another program', function () {
  this.timeout(180_000);
  const hawser = started(startHawser);
  let admin: Client;
  let node: NodeUnderTest;
  let other: OtherProgram;

  before(async () => {
    // So long the other program has to close a circle of those who wait for each other.
    await querySharedCluster(`alter database ${name()} set deadlock_timeout = '3s'`);
    await hawser.restart();
    admin = hawser.admin;
    await publishConfiguration(admin, 'web', { '1.0.0': FILES });
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { files: FILES }));
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
  });
  beforeEach(async () => {
    other = await otherProgram(hawser.databaseUrl ?? '');
  });
  afterEach(() => other.end());

  const name = () => databaseName(hawser.databaseUrl ?? '');
  const ownReports = () => `/api/v1/nodes/${node.nodeId}/reports`;

  /** All that the writes of this test change. */
  async function shown(): Promise<string[]> {
    const paths = [KEYS, WEB, `${WEB}/versions`, ownReports(), `/api/v1/nodes/${node.nodeId}/tags`];
    const replies = await Promise.all(paths.map((path) => admin.get(path)));
    return replies.map(({ status, text }) => `${status} ${text}`);
  }

  /** Writes of each lane, in turn and beside each other. */
  const WRITES: [status: number, send: () => Promise<Reply>][] = [
    [201, () => admin.post(KEYS, { description: 'the content of a row' })],
    [200, () => admin.put(`${WEB}/versions/1.1.0/publish`)],
    [200, () => admin.call('PATCH', WEB, { json: { description: 'the content of a row' } })],
    [201, () => node.client.post(ownReports(), { operation: 'Test', result: testOutput([]) })],
  ];

  it('answers 503 and changes nothing, answers polls meanwhile, and writes once it can', async () => {
    const before = await shown();
    const { checksum } = await ok(200, poll(node));
    await other.query(
      'begin; lock table registration_keys, configurations, reports in access exclusive mode',
    );
    const sent = WRITES.map(([, send]) => send());
    await other.waitedFor(2);
    expect((await poll(node, checksum)).status).to.equal(304);
    expect((await node.client.get(`${configurationPath(node)}/bundle`)).status).to.equal(200);
    await ok(200, admin.get('/api/v1/scope-types'));
    for (const reply of sent) {
      const { headers, text } = await expectProblem(reply, 503, 'unavailable');
      expect(headers['retry-after']).to.match(/^[1-9]\d*$/);
      expect(text).not.to.match(OF_SQL).and.not.to.include('the content of a row');
    }
    expect((await poll(node, checksum)).status).to.equal(304);
    await other.query('rollback');
    expect(await shown()).to.deep.equal(before);
    for (const [status, send] of WRITES) await ok(status, send());
    expect((await ok(200, poll(node))).checksum).not.to.equal(checksum);
    expect(hawser.log()).not.to.include(new URL(hawser.databaseUrl ?? '').password);
    expect(hawser.log()).not.to.include(decodeURIComponent(new URL(hawser.databaseUrl ?? '').password));
  });

  const deadlocks = async () => {
    const rows = await querySharedCluster<{ deadlocks: string }>(
      `select deadlocks from pg_stat_database where datname = '${name()}'`,
    );
    return Number(rows[0]?.deadlocks);
  };

  it('does a write again that waited for a program which waited for it, and the caller sees its success', async () => {
    const before = await deadlocks();
    await other.query(
      `set deadlock_timeout = '20s'; begin; lock table registration_keys in access exclusive mode`,
    );
    const sent = admin.post(KEYS, { description: 'made twice?' });
    await other.waitedFor();
    // The write has its turn, for which the other program waits now. PostgreSQL ends the write, which looks first.
    await other.query(`select pg_advisory_xact_lock(${FEED_KEY}); commit`);
    const { id } = await ok(201, sent);
    const keys: { id: string; description: string }[] = await ok(200, admin.get(KEYS));
    expect(
      keys.filter(({ description }) => description === 'made twice?').map((key) => key.id),
    ).to.deep.equal([id]);
    await eventually(async () => expect(await deadlocks()).to.equal(before + 1));
    const entries = await ok(200, admin.get(`/api/v1/audit?action=registration_key.created`));
    expect(entries.filter(({ resourceId }: { resourceId: string }) => resourceId === id)).to.have.length(1);
  });
});
