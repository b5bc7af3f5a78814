import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { REPOSITORY_KINDS } from '../../src/git/types.ts';
import { MAIN } from '../support/configurations.ts';
import { databaseWrites } from '../support/database-writes.ts';
import { testOutput } from '../support/dsc-results.ts';
import { expectRefusal, expectRefused, isTaken, type Write } from '../support/fault-sweep.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { pushWrites } from '../support/push-writes.ts';
import { ok } from '../support/replies.ts';
import { repositoryWrites } from '../support/repository-writes.ts';
import { mounting, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const FULL = { status: 507, code: 'insufficient_storage' };

describeWith([mounting()], 'on a disk that is really full', () => {
  let disk: SmallDisk;
  let hawser: Hawser;
  let node: NodeUnderTest;

  before(async () => {
    disk = mountSmallDisk();
    const { folder } = disk;
    hawser = await startHawser({
      HAWSER_DATA_DIR: join(folder, 'data'),
      HAWSER_REPOS_DIR: join(folder, 'repos'),
    });
    await publishConfiguration(hawser.admin, 'polled', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-1.example.org');
    await assign(hawser, node, 'polled');
  });

  after(async () => {
    disk?.free();
    await hawser?.close();
    disk?.remove();
  });

  /** What SQLite has room for in the log that it writes ahead still succeeds. */
  const tryAll = async (writes: readonly Write[]): Promise<number> => {
    let refused = 0;
    for (const [n, write] of writes.entries()) {
      await write.setUp?.();
      await write.prepare?.(n);
      disk.fill();
      const reply = await write.send(n);
      if (!isTaken(write, reply)) {
        await expectRefused(write, reply, FULL);
        refused += 1;
      }
      disk.free();
      if (isTaken(write, reply)) continue;
      const again = await write.send(n);
      expect(isTaken(write, again), `${write.what}, again: ${again.status} ${again.text}`).to.equal(true);
    }
    return refused;
  };

  it('answers polls and bundles', async () => {
    disk.fill();
    const { checksum } = await ok(200, poll(node));
    expect((await poll(node, checksum)).status).to.equal(304);
    expect((await node.client.get(`${configurationPath(node)}/bundle`)).status).to.equal(200);
    disk.free();
  });

  it('refuses changes of repositories with 507, and makes them as soon as there is room', async () => {
    expect(await tryAll([...repositoryWrites(hawser), ...pushWrites(hawser)])).to.be.greaterThan(10);
  });

  it('refuses changes of the database with 507, and makes them as soon as there is room', async () => {
    await tryAll(databaseWrites(hawser, node));
  });

  it('refuses what the database has no room for, and keeps nothing of it', async () => {
    const own = `/api/v1/nodes/${node.nodeId}/reports`;
    const report = { operation: 'Test', result: { ...testOutput([]), filling: 'x'.repeat(500_000) } };
    const count = async () => (await ok(200, hawser.admin.get(own))).length;
    const before = await count();
    disk.fill();
    let reply = await node.client.post(own, report);
    // There may be room left in its log for some.
    while (reply.status === 201) reply = await node.client.post(own, report);
    await expectRefusal(reply, FULL, 'a large report');
    const made = (await count()) - before;
    expect(made).to.be.below(12);
    disk.free();
    await ok(201, node.client.post(own, report));
    expect(await count()).to.equal(before + made + 1);
  });

  it('leaves database and repositories whole', () => {
    const database = new SqliteDatabase(join(hawser.dataDir, 'hawser.db'), { readonly: true });
    expect(database.pragma('integrity_check', { simple: true })).to.equal('ok');
    database.close();
    for (const kind of REPOSITORY_KINDS) {
      for (const name of readdirSync(`${hawser.reposDir}/${kind}`)) {
        const found = hawser.git(`${kind}/${name}`, 'fsck', '--strict');
        expect(found.replaceAll(/^dangling .*\n/gm, ''), name).to.equal('');
      }
    }
  });
});
