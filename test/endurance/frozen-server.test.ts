/**
 * One of three servers stands still for 90 s while it holds a lock, or while much of it waits for one. The others go on,
 * and its own write fails afterwards.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FEED_KEY, NOTES_KEY } from '../../src/db/postgres/advisory-keys.ts';
import { type Client, makeClient } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { freezeAmid } from '../support/cluster/freeze.ts';
import { addVersion, CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, createKey, publishConfiguration } from '../support/hawser.ts';
import { otherProgram } from '../support/postgres/other-program.ts';
import { newDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

const FROZEN_FOR = 90_000;
/** Milliseconds for which the writes of others wait at most: 5 s, and as much for the machine. */
const LONGEST_WAIT = 10_000;
/** Milliseconds in which a server that wakes is like the others. */
const AWAKE = 15_000;
/** Milliseconds between two writes while the server is frozen. */
const PAUSE = 3_000;

const files = (content: string) => ({ files: { [MAIN]: `$schema: x\n# ${content}\nresources: []\n` } });
const versionOf = (version: string) => `${CONFIGURATIONS}/frozen/versions/${version}`;

describe('a server that is frozen', function () {
  this.timeout(240_000);
  let cluster: ServerCluster;
  let admins: [Client, Client, Client];

  before(async () => {
    cluster = await ServerCluster.make(await newDatabase(), { servers: 3 });
    await cluster.start();
    const signingIn = cluster.servers.map(({ target }) => asAdmin(makeClient(target)));
    admins = (await Promise.all(signingIn)) as typeof admins;
  });
  after(async () => {
    for (const admin of admins ?? []) admin.close();
    await cluster?.close();
  });

  it('for 90 s in a section holds up the others for 5 s, writes nothing when it wakes, and is right then', async () => {
    const [first, second, third] = admins;
    await publishConfiguration(first, 'frozen', { '1.0.0': files('frozen').files });
    await ok(201, addVersion(first, 'frozen', { version: '1.1.0' }, files('never twice')));
    const frozen = cluster.server(1);
    const [sent] = await freezeAmid(cluster, frozen, () => first.put(`${versionOf('1.1.0')}/publish`));
    const wake = Date.now() + FROZEN_FOR;
    const published: string[] = [];
    try {
      // They wait for the lock that the frozen server holds, until PostgreSQL takes it away.
      const since = performance.now();
      await ok(201, addVersion(second, 'frozen', { version: '2.0.0' }, files('first')));
      expect(performance.now() - since).to.be.below(LONGEST_WAIT);
      for (let minor = 1; Date.now() < wake; minor += 1) {
        const version = `2.${minor}.0`;
        await ok(201, addVersion(second, 'frozen', { version }, files(version)));
        await ok(200, third.put(`${versionOf(version)}/publish`));
        published.push(version);
        await sleep(PAUSE);
      }
    } finally {
      frozen.thaw();
    }
    expect((await sent).status).to.equal(503);
    for (const admin of admins)
      await eventually(async () => {
        expect(await ok(200, admin.get(versionOf('1.1.0')))).to.include({ status: 'Draft' });
        for (const version of published)
          expect(await ok(200, admin.get(versionOf(version)))).to.include({ status: 'Published' });
      }, AWAKE);
    await ok(200, first.put(`${versionOf('1.1.0')}/publish`));
    for (const admin of admins)
      expect(await ok(200, admin.get(versionOf('1.1.0')))).to.include({ status: 'Published' });
  });

  /** A node with a client at one of the servers. */
  async function register(fqdn: string, server: number): Promise<{ path: string; client: Client }> {
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = makeClient(cluster.server(server).target, identity);
    const body = { registrationKey: await createKey(admins[0]), fqdn };
    const { nodeId } = await ok(200, client.post('/api/v1/nodes/register', body));
    return { path: `/api/v1/nodes/${nodeId}`, client };
  }

  it('while all its kinds of writes wait holds up reports and writes of others for 5 s', async () => {
    const [first, second] = admins;
    const inside = await register('inside.example.org', 1);
    const outside = await register('outside.example.org', 2);
    const report = { operation: 'Test', result: testOutput([]) };
    const other = await otherProgram(cluster.database.url);
    const frozen = cluster.server(1);
    let sent: Promise<unknown> = Promise.resolve();
    try {
      await other.query(
        `begin; select pg_advisory_xact_lock(${FEED_KEY}), pg_advisory_xact_lock(${NOTES_KEY})`,
      );
      sent = Promise.allSettled([
        inside.client.post(`${inside.path}/reports`, report),
        inside.client.put(`${inside.path}/lcm-status`, { lcmStatus: 'Testing' }),
        createKey(first),
        createKey(first),
      ]);
      await other.waitedFor(2);
      frozen.freeze();
      await other.query('commit');
      const since = performance.now();
      await Promise.all([ok(201, outside.client.post(`${outside.path}/reports`, report)), createKey(second)]);
      expect(performance.now() - since).to.be.below(LONGEST_WAIT);
    } finally {
      frozen.thaw();
      await other.end();
      await sent;
      inside.client.close();
      outside.client.close();
    }
    // What it does after it woke is as ever.
    await eventually(() => createKey(first), AWAKE);
  });
});
