/** One of three servers stands still for 90 s while it holds a lock. The others go on, and its own write fails afterwards. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, makeClient } from '../support/client.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { freezeAmid } from '../support/cluster/freeze.ts';
import { addVersion, CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, ALL_SCOPES, createToken, publishConfiguration, signIn } from '../support/hawser.ts';
import { newDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

const FROZEN_FOR = 90_000;
/** Milliseconds for which the writes of others wait at most. */
const LONGEST_WAIT = 15_000;
/** Milliseconds between two writes while the server is frozen. */
const PAUSE = 3_000;

const files = (content: string) => ({ files: { [MAIN]: `# ${content}\nresources: []\n` } });
const versionOf = (version: string) => `${CONFIGURATIONS}/frozen/versions/${version}`;

describe('a server that is frozen for 90 s in a section', function () {
  this.timeout(240_000);
  let cluster: ServerCluster;
  let admins: [Client, Client, Client];

  before(async () => {
    cluster = await ServerCluster.make(await newDatabase(), { servers: 3 });
    await cluster.start();
    const client = makeClient(cluster.server(1).target);
    const token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    client.close();
    admins = cluster.servers.map(({ target }) =>
      makeClient(target).with({ Authorization: `Bearer ${token}` }),
    ) as typeof admins;
  });
  after(async () => {
    for (const admin of admins ?? []) admin.close();
    await cluster?.close();
  });

  it('holds up the others for 15 s at most, writes nothing when it wakes, and is right from then on', async () => {
    const [first, second, third] = admins;
    await publishConfiguration(first, 'frozen', { '1.0.0': files('frozen').files });
    await ok(201, addVersion(first, 'frozen', { version: '1.1.0' }, files('never twice')));
    const frozen = cluster.server(1);
    const [sent] = await freezeAmid(cluster, frozen, () => first.put(`${versionOf('1.1.0')}/publish`));
    const wake = Date.now() + FROZEN_FOR;
    const published: string[] = [];
    try {
      // They wait for the lock that the frozen server holds, until PostgreSQL takes it away.
      await eventually(
        () => ok(201, addVersion(second, 'frozen', { version: '2.0.0' }, files('first'))),
        LONGEST_WAIT,
      );
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
      }, LONGEST_WAIT);
    await ok(200, first.put(`${versionOf('1.1.0')}/publish`));
    for (const admin of admins)
      expect(await ok(200, admin.get(versionOf('1.1.0')))).to.include({ status: 'Published' });
  });
});
