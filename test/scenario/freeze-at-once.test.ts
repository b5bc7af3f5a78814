// everyday: SQLite; full: PostgreSQL
/** A freeze waits for nobody, and a deed that is under way when it comes is refused where it would take effect. */

import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { HOUR } from '../../src/lib/clock.ts';
import type { Reply } from '../support/client.ts';
import { create, publish } from '../support/configurations.ts';
import { refsOf, save, versionOf } from '../support/draft-files.ts';
import { startHawser } from '../support/hawser.ts';
import { HeldDisk, holdWrites } from '../support/held-writes.ts';
import { LockWatch } from '../support/lock-watch.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const FREEZE = '/api/v1/settings/freeze';

describe('a freeze that comes while others write', () => {
  const disk = new HeldDisk();
  const hawser = started(() => startHawser({}, { fs: new AtomicFs(disk) }));
  afterEach(() => ok(204, hawser.admin.delete(FREEZE)));

  /** Holds the first request up while it has the lock of the repository, freezes, and lets all go on. */
  const freezeAmid = async (first: () => Promise<Reply>, second?: () => Promise<Reply>) => {
    const { isHeld, letGo } = await holdWrites(disk, hawser.databaseUrl);
    const locks = new LockWatch();
    try {
      const replies = [first()];
      await isHeld;
      if (second) {
        replies.push(second());
        await locks.untilWaiting(1);
      }
      const until = new Date(hawser.clock.now() + HOUR).toISOString();
      // If it waited for the first request, nobody would let that go on, and the test would end by its time limit.
      await ok(200, hawser.admin.put(FREEZE, { reason: 'Christmas sales', until }));
      letGo();
      return await Promise.all(replies);
    } finally {
      letGo();
      locks.stop();
    }
  };

  it('refuses a publish that waited for its repository, while the change of the draft is made', async () => {
    await ok(201, create(hawser.admin, 'web', { version: '1.0.0' }));
    const [saved, published] = await freezeAmid(
      () => save(hawser.admin, ['web', '1.0.0', 'a.txt'], 'mine\n'),
      () => publish(hawser.admin, 'web', '1.0.0'),
    );
    await ok(201, saved as Reply);
    await expectProblem(published as Reply, 423, 'frozen');
    expect((await ok(200, hawser.admin.get(versionOf('web', '1.0.0')))).status).to.equal('Draft');
  });

  it('refuses a publish that had begun to write, and takes its tag back', async () => {
    await ok(201, create(hawser.admin, 'shop', { version: '1.0.0' }));
    const before = refsOf(hawser, 'shop');
    const [published] = await freezeAmid(() => publish(hawser.admin, 'shop', '1.0.0'));
    await expectProblem(published as Reply, 423, 'frozen');
    expect(refsOf(hawser, 'shop')).to.equal(before);
    expect((await ok(200, hawser.admin.get(versionOf('shop', '1.0.0')))).status).to.equal('Draft');
    await ok(204, hawser.admin.delete(FREEZE));
    await ok(200, publish(hawser.admin, 'shop', '1.0.0'));
  });
});
