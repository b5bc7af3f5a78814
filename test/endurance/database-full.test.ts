import { expect } from 'chai';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { databaseWrites } from '../support/database-writes.ts';
import { eventually } from '../support/eventually.ts';
import { type FailingDatabase, failingDatabase, rowsOf } from '../support/failing-database.ts';
import { sweep } from '../support/fault-sweep.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith, LINUX } from '../support/optional-tools.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { pushWrites } from '../support/push-writes.ts';
import { ok } from '../support/replies.ts';
import { repositoryWrites } from '../support/repository-writes.ts';
import { RUNS } from '../support/retention.ts';

describeWith([LINUX], 'while the disk of the database fails', function () {
  this.timeout(180_000);
  let disk: FailingDatabase;
  let hawser: Hawser;
  let node: NodeUnderTest;

  before(async () => {
    disk = failingDatabase();
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'polled', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-1.example.org');
    await assign(hawser, node, 'polled');
  });

  after(async () => {
    disk?.stop();
    await hawser?.close();
  });
  afterEach(() => disk.end());

  const state = () => rowsOf(hawser.dataDir);
  const meanwhile = async () => {
    expect((await node.client.get(`/api/v1/nodes/${node.nodeId}/lcm-config`)).status).to.equal(200);
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/polled/versions`));
  };

  it('refuses every change of the database with 503, changes nothing, and goes on when it can', async () => {
    for (const write of databaseWrites(hawser, node)) {
      await write.setUp?.();
      const options = { admin: hawser.admin, fault: disk, meanwhile, state };
      expect(await sweep(write, options), write.what).to.be.greaterThan(0);
    }
    const runs = await ok(200, hawser.admin.get(RUNS));
    expect(runs.filter((run: { completedAt: string | null }) => run.completedAt === null)).to.deep.equal([]);
  });

  it('refuses every change of a repository with 503, takes back what was done, and goes on when it can', async () => {
    for (const write of [...repositoryWrites(hawser), ...pushWrites(hawser)]) {
      await write.setUp?.();
      const options = { admin: hawser.admin, fault: disk, meanwhile };
      expect(await sweep(write, options), write.what).to.be.greaterThan(0);
    }
  });

  it('answers polls, and writes down when nodes have called as soon as it can', async () => {
    await assign(hawser, node, 'polled');
    const lastCheckIn = async () =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).lastCheckIn;
    // Earlier calls of the node may have been written already, so the last one must be waited for.
    const asked = hawser.clock.now();
    await ok(200, poll(node));
    const before = await eventually(async () => {
      const at = await lastCheckIn();
      expect(Date.parse(at)).to.be.at.least(asked);
      return at;
    });
    hawser.clock.advance(60_000);
    disk.begin(0);
    const { checksum } = await ok(200, poll(node));
    expect((await poll(node, checksum)).status).to.equal(304);
    expect((await node.client.get(`${configurationPath(node)}/bundle`)).status).to.equal(200);
    const checks = async () => (await ok(200, hawser.client().get('/health/ready'))).checks;
    const fault = 'Degraded: nothing can be written (unavailable)';
    await eventually(async () =>
      expect(await checks()).to.deep.equal({ database: fault, repositories: 'Ok' }),
    );
    expect(await lastCheckIn()).to.equal(before);
    disk.end();
    expect(await checks()).to.deep.equal({ database: 'Ok', repositories: 'Ok' });
    await eventually(async () => {
      expect(Date.parse(await lastCheckIn()) - Date.parse(before)).to.be.at.least(60_000);
    });
  });
});
