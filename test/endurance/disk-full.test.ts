import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { REPOSITORY_KINDS } from '../../src/git/types.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { type Errno, FailingDisk } from '../support/failing-disk.ts';
import { expectRefusal, type Fault, sweep, type Write } from '../support/fault-sweep.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { pushWrites } from '../support/push-writes.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { repositoryWrites } from '../support/repository-writes.ts';

const FULL = { status: 507, code: 'insufficient_storage' };
const FAILING = { status: 503, code: 'unavailable' };
const PROBLEMS = { ENOSPC: FULL, EDQUOT: FULL, EIO: FAILING, EROFS: FAILING, EMFILE: FAILING };

const LEFT_OVER = /\.lock$|\.new$|tmp_obj_|^\.tmp\/./;
/** Every how many steps something fails; DISK_TEST_STRIDE=1 tries all of them, which takes some minutes. */
const strideOf = (usual: number) => Number(process.env['DISK_TEST_STRIDE'] ?? usual);

describe('while the disk of the repositories fails', function () {
  this.timeout(300_000);
  const disk = new FailingDisk();
  let hawser: Hawser;
  let node: NodeUnderTest;
  let writes: Write[];

  before(async () => {
    hawser = await startHawser({}, { fs: new AtomicFs(disk) });
    await publishConfiguration(hawser.admin, 'polled', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-1.example.org');
    await assign(hawser, node, 'polled');
    writes = [...repositoryWrites(hawser), ...pushWrites(hawser)];
    for (const write of writes) await write.setUp?.();
  });

  after(() => hawser.close());
  afterEach(() => disk.heal());

  const faultOf = (errno: Errno, isLasting: boolean): Fault => ({
    name: errno,
    ...PROBLEMS[errno],
    isLasting,
    begin: (after) => disk.fail(errno, after, isLasting),
    end: () => {
      disk.heal();
      return disk.failures > 0;
    },
  });
  const meanwhile = async () => {
    expect((await poll(node)).status, 'a poll').to.equal(200);
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/polled/versions`));
  };
  const sweepAll = async (fault: Fault, stride: number): Promise<number> => {
    let steps = 0;
    for (const write of writes)
      steps += await sweep(write, { admin: hawser.admin, fault, stride, meanwhile });
    return steps;
  };

  const expectWhole = async () => {
    // What could not be removed while it failed goes with the next write.
    await ok(201, create(hawser.admin, `last-${Date.now()}`));
    for (const kind of REPOSITORY_KINDS) {
      for (const name of readdirSync(`${hawser.reposDir}/${kind}`)) {
        const found = hawser.git(`${kind}/${name}`, 'fsck', '--strict');
        expect(found.replaceAll(/^dangling .*\n/gm, ''), name).to.equal('');
      }
    }
    const names = readdirSync(hawser.reposDir, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => LEFT_OVER.test(name))).to.deep.equal([]);
  };

  it('is full from any step on: 507, and the same request succeeds as soon as there is room', async () => {
    expect(await sweepAll(faultOf('ENOSPC', true), strideOf(5))).to.be.greaterThan(100);
    await expectWhole();
  });

  it('fails at any one step: 503, and nothing is other than before', async () => {
    await sweepAll(faultOf('EIO', false), strideOf(3));
    await expectWhole();
  });

  it('fails from any step on: 503, and the same request succeeds as soon as it can', async () => {
    await sweepAll(faultOf('EIO', true), strideOf(11));
    await expectWhole();
  });

  for (const errno of ['EDQUOT', 'EROFS', 'EMFILE'] as const) {
    it(`tells ${errno} as what it is, and gets over it`, async () => {
      await sweepAll(faultOf(errno, true), 40);
      await expectWhole();
    });
  }

  it('ends a configuration all the same, and its name is free as soon as the disk can', async () => {
    await ok(201, create(hawser.admin, 'ended'));
    disk.fail('EIO', 0, true);
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/ended`));
    await expectProblem(create(hawser.admin, 'ended'), 503, 'unavailable');
    disk.heal();
    await ok(201, create(hawser.admin, 'ended'));
    await expectWhole();
  });

  it('is told by the readiness check, until it can be written again', async () => {
    const checks = async () => (await ok(200, hawser.client().get('/health/ready'))).checks;
    disk.fail('ENOSPC', 0, true);
    await expectRefusal(await create(hawser.admin, 'unhealthy'), FULL, 'unhealthy');
    const fault = 'Degraded: nothing can be written (insufficient_storage)';
    expect(await checks()).to.deep.equal({ database: 'Ok', repositories: fault });
    disk.heal();
    expect(await checks()).to.deep.equal({ database: 'Ok', repositories: 'Ok' });
  });

  it('has the cause in the log as an error, and no path in the answers', async () => {
    disk.fail('ENOSPC', 0, true);
    const reply = await create(hawser.admin, 'logged');
    disk.heal();
    await expectRefusal(reply, FULL, 'logged');
    const lines = hawser.log().split('\n');
    const line = lines.find((each) => each.includes(String(reply.headers['x-request-id'])));
    const { level, status, code, err } = JSON.parse(line ?? '{}');
    expect({ level, status, code }).to.deep.equal({ level: 'error', ...FULL });
    expect(err.code).to.equal('ENOSPC');
  });
});
