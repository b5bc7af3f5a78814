// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import type { Client, Reply } from '../support/client.ts';
import { addChild, addCompositeDraft, compositeVersionOf, createComposite } from '../support/composites.ts';
import { create, fileOf, MAIN, publish } from '../support/configurations.ts';
import { refsOf, save, versionOf } from '../support/draft-files.ts';
import { startHawser } from '../support/hawser.ts';
import { HeldDisk, holdWrites } from '../support/held-writes.ts';
import { LockWatch } from '../support/lock-watch.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n', 'a.txt': 'a\n' };

/** Requests that may wait for the lock of a repository, each with the resource whose ETag it has seen. */
const WAITING: readonly {
  what: string;
  seen(name: string): string;
  call(client: Client, name: string): Promise<Reply>;
}[] = [
  {
    what: 'publishing a version',
    seen: (name) => versionOf(name, '1.0.0'),
    call: (client, name) => publish(client, name, '1.0.0'),
  },
  {
    what: 'replacing a draft',
    seen: (name) => versionOf(name, '1.0.0'),
    call: (client, name) => client.call('PUT', versionOf(name, '1.0.0'), { form: { files: FILES } }),
  },
  {
    what: 'deleting a draft',
    seen: (name) => versionOf(name, '1.0.0'),
    call: (client, name) => client.delete(versionOf(name, '1.0.0')),
  },
  {
    what: 'saving a file that a whole draft replaces',
    seen: (name) => fileOf(name, '1.0.0', 'a.txt'),
    call: (client, name) => save(client, [name, '1.0.0', 'a.txt'], 'mine\n'),
  },
  {
    what: 'deleting a file that a whole draft replaces',
    seen: (name) => fileOf(name, '1.0.0', 'a.txt'),
    call: (client, name) => client.delete(fileOf(name, '1.0.0', 'a.txt')),
  },
];

describe('If-Match of a request that waits for the lock', () => {
  const disk = new HeldDisk();
  const hawser = started(() => startHawser({}, { fs: new AtomicFs(disk) }));

  /** Starts the first change and holds it up while it has the lock, sends the second one, and lets both go on. */
  const race = async (first: () => Promise<Reply>, second: () => Promise<Reply>) => {
    const { isHeld, letGo } = await holdWrites(disk, hawser.databaseUrl);
    const locks = new LockWatch();
    try {
      const replies = [first()];
      await isHeld;
      replies.push(second());
      // The second one has passed its first comparison then, which reads what was there before.
      await locks.untilWaiting(1);
      letGo();
      const [won, lost] = (await Promise.all(replies)) as [Reply, Reply];
      return { won, lost };
    } finally {
      locks.stop();
    }
  };

  for (const [at, { what, seen, call }] of WAITING.entries()) {
    it(`is compared again for ${what}, which changes nothing then`, async () => {
      const name = `race-${at}`;
      await ok(201, create(hawser.admin, name, {}, { files: FILES }));
      const etag = await etagOf(hawser.admin, seen(name));
      const other = { form: { files: { ...FILES, 'a.txt': 'other\n' } } };
      const change = () =>
        seen(name).includes('/files/')
          ? hawser.admin.call('PUT', versionOf(name, '1.0.0'), other)
          : save(hawser.admin, [name, '1.0.0', 'a.txt'], 'other\n');
      const { won, lost } = await race(change, () => call(hawser.admin.with({ 'If-Match': etag }), name));
      await expectProblem(lost, 412, 'precondition_failed');
      const { commit } = await ok(200, won);
      expect(refsOf(hawser, name)).to.equal(`${commit} commit\trefs/heads/draft/1.0.0\n`);
      expect((await hawser.admin.get(fileOf(name, '1.0.0', 'a.txt'))).text).to.equal('other\n');
    });
  }

  it('is compared again for publishing a composite', async () => {
    await ok(201, create(hawser.admin, 'child'));
    await ok(201, create(hawser.admin, 'other'));
    for (const name of ['child', 'other']) await ok(200, publish(hawser.admin, name, '1.0.0'));
    await ok(201, createComposite(hawser.admin, 'farm'));
    await ok(201, addCompositeDraft(hawser.admin, 'farm', '1.0.0'));
    await ok(201, addChild(hawser.admin, 'farm', '1.0.0', 'child'));
    const path = compositeVersionOf('farm', '1.0.0');
    const etag = await etagOf(hawser.admin, path);
    const { won, lost } = await race(
      () => addChild(hawser.admin, 'farm', '1.0.0', 'other'),
      () => hawser.admin.with({ 'If-Match': etag }).put(`${path}/publish`),
    );
    await ok(201, won);
    await expectProblem(lost, 412, 'precondition_failed');
    expect(refsOf(hawser, 'farm', 'composites')).to.match(
      /^[0-9a-f]{40} commit\trefs\/heads\/draft\/1\.0\.0\n$/,
    );
  });

  it('is compared again for publishing a parameter file', async () => {
    const { id } = await ok(201, create(hawser.admin, 'shop'));
    const set = `/api/v1/parameters/${DEFAULT_ID}/${id}`;
    const file = (port: number) => ({ version: '1.0.0', content: `parameters: {port: ${port}}\n` });
    await ok(201, hawser.admin.put(set, file(1)));
    const path = `${set}/versions/1.0.0`;
    const etag = await etagOf(hawser.admin, path);
    const { won, lost } = await race(
      () => hawser.admin.put(set, file(2)),
      () => hawser.admin.with({ 'If-Match': etag }).put(`${path}/publish`),
    );
    await ok(200, won);
    await expectProblem(lost, 412, 'precondition_failed');
    expect((await ok(200, hawser.admin.get(path))).status).to.equal('Draft');
  });
});
