import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MAIN } from '../support/configurations.ts';
import { testOutput } from '../support/dsc-results.ts';
import { expectRefusal } from '../support/fault-sweep.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { unprivilegedUser } from '../support/postgres/programs.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { mounting, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const FULL = { status: 507, code: 'insufficient_storage' };
/** With so many reports the disk would be full twice. */
const TOO_MANY = 300;

describeWith([mounting()], 'a PostgreSQL whose disk is really full', () => {
  let disk: SmallDisk;
  let own: OwnCluster;
  let hawser: Hawser;
  let node: NodeUnderTest;

  before(async () => {
    disk = mountSmallDisk('size=64m');
    own = await ownCluster({ fsync: false });
    const folder = join(disk.folder, 'tables');
    mkdirSync(folder, { mode: 0o700 });
    const user = unprivilegedUser();
    if (user) chownSync(folder, user.uid, user.gid);
    // What is written ahead stays on the other disk. Without it PostgreSQL would end, and answer nothing at all.
    await own.cluster.query(`create tablespace small location '${folder}'`);
    const { name, url } = await own.newDatabase();
    await own.cluster.query(`alter database ${name} set tablespace small`);
    hawser = await startHawser({ HAWSER_DATABASE_URL: url });
    await publishConfiguration(hawser.admin, 'polled', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-1.example.org');
    await assign(hawser, node, 'polled');
  });

  after(async () => {
    await hawser?.close();
    await own?.cluster.remove();
    disk?.remove();
  });

  it('refuses with 507 what it has no room for, keeps nothing of it, and takes it as soon as there is room', async () => {
    const reports = `/api/v1/nodes/${node.nodeId}/reports`;
    // PostgreSQL compresses large texts, so this one cannot be compressed.
    const filling = () => randomBytes(300_000).toString('base64');
    const send = () =>
      node.client.post(reports, { operation: 'Test', result: { ...testOutput([]), filling: filling() } });
    const count = async () => (await ok(200, hawser.admin.get(`${reports}?take=1000`))).length;
    disk.fill();
    let made = 0;
    let reply = await send();
    // There may be room left in its files for some.
    for (; reply.status === 201 && made < TOO_MANY; reply = await send()) made += 1;
    await expectRefusal(reply, FULL, 'a large report');
    expect(await count()).to.equal(made);
    const { checksum } = await ok(200, poll(node));
    expect((await poll(node, checksum)).status).to.equal(304);
    expect((await node.client.get(`${configurationPath(node)}/bundle`)).status).to.equal(200);
    disk.free();
    await ok(201, send());
    expect(await count()).to.equal(made + 1);
  });
});
