// full: SQLite, PostgreSQL
/** Pushes that meet other changes of the same version. One of the two wins, and the other is told so. */

import { expect } from 'chai';
import { fileOf, publish, versionsOf } from '../support/configurations.ts';
import { save } from '../support/draft-files.ts';
import { type GitRun, gitClient } from '../support/git-client.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { LockWatch } from '../support/lock-watch.ts';
import { beginAuthor, cloneOf, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const MAIN = 'main.dsc.yaml';
const TWO = { [MAIN]: '$schema: x\nresources: []\n# two\n' };
const THREE = { [MAIN]: '$schema: x\nresources: []\n# three\n' };

describe('a push', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });

  /** Starts the first change and holds it up while it has the lock, begins the second one, and lets both go on. */
  async function race<First, Second>(
    first: () => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<[First, Second]> {
    const locks = new LockWatch();
    const { isHeld, letGo } = locks.holdRepository();
    try {
      const won = first();
      await isHeld;
      const lost = second();
      await locks.untilWaiting(1);
      letGo();
      return await Promise.all([won, lost]);
    } finally {
      locks.stop();
    }
  }

  const author = async (): Promise<PushAuthor> => {
    const made = await beginAuthor(hawser, client, token);
    await made.commit(TWO);
    await made.ok('push', '-q', 'origin', `HEAD:${DRAFT}/1.1.0`);
    return made;
  };
  const contentOf = async ({ name }: PushAuthor) =>
    (await hawser.admin.get(fileOf(name, '1.1.0', MAIN))).text;
  const expectTaken = ({ code, output }: GitRun) => expect(code, output).to.equal(0);
  const expectRefused = ({ code, output }: GitRun, reason: string) => {
    expect(code, output).to.equal(1);
    expect(output).to.include(`(${reason})`).and.to.include('remote: hawser: Nothing was changed.');
  };

  it('of a draft loses against a file that is saved meanwhile, however forced', async () => {
    const ada = await author();
    await ada.commit(THREE);
    const [saved, pushed] = await race(
      () => save(hawser.admin, [ada.name, '1.1.0', MAIN], '# saved\n'),
      () => ada.push('--force', `HEAD:${DRAFT}/1.1.0`),
    );
    await ok(200, saved);
    expectRefused(pushed, 'draft_changed');
    expect(await contentOf(ada)).to.equal('# saved\n');
  });

  it('of a draft wins against a file that was read before', async () => {
    const ada = await author();
    const etag = String((await hawser.admin.get(fileOf(ada.name, '1.1.0', MAIN))).headers['etag']);
    await ada.commit(THREE);
    const [pushed, saved] = await race(
      () => ada.push(`HEAD:${DRAFT}/1.1.0`),
      () => save(hawser.admin.with({ 'If-Match': etag }), [ada.name, '1.1.0', MAIN], '# saved\n'),
    );
    expectTaken(pushed);
    await expectProblem(saved, 412, 'precondition_failed');
    expect(await contentOf(ada)).to.equal(THREE[MAIN]);
  });

  it('of a draft loses against that of another clone', async () => {
    const ada = await author();
    const bob = await cloneOf(client, ada.name, token);
    await ada.commit(THREE);
    await bob.commit({ [MAIN]: '# bob\n' });
    const [first, second] = await race(
      () => ada.push(`HEAD:${DRAFT}/1.1.0`),
      () => bob.push('--force', `HEAD:${DRAFT}/1.1.0`),
    );
    expectTaken(first);
    expectRefused(second, 'draft_changed');
    expect(await contentOf(ada)).to.equal(THREE[MAIN]);
  });

  it('of a new draft loses against the same one of another clone', async () => {
    const ada = await author();
    const bob = await cloneOf(client, ada.name, token);
    await bob.commit({ [MAIN]: '# bob\n' });
    const [first, second] = await race(
      () => ada.push(`HEAD:${DRAFT}/1.2.0`),
      () => bob.push(`HEAD:${DRAFT}/1.2.0`),
    );
    expectTaken(first);
    expectRefused(second, 'draft_changed');
  });

  it('of a version loses against its publishing through the API, and its publishing against a push', async () => {
    for (const isPushFirst of [true, false]) {
      const ada = await author();
      await ada.ok('tag', '-a', 'v1.1.0', '-m', 'Version 1.1.0');
      const push = () => ada.push('v1.1.0');
      const put = () => publish(hawser.admin, ada.name, '1.1.0');
      if (isPushFirst) {
        const [pushed, published] = await race(push, put);
        expectTaken(pushed);
        await expectProblem(published, 409, 'already_published');
      } else {
        const [published, pushed] = await race(put, push);
        await ok(200, published);
        expectRefused(pushed, 'already_published');
      }
      const versions = await ok(200, hawser.admin.get(versionsOf(ada.name)));
      expect(
        versions.map((each: { version: string; status: string }) => [each.version, each.status]),
      ).to.deep.equal([
        ['1.1.0', 'Published'],
        ['1.0.0', 'Published'],
      ]);
    }
  });

  it('of a version of a configuration that ends meanwhile changes nothing', async () => {
    const ada = await author();
    await ada.commit(THREE);
    const path = `/api/v1/configurations/${ada.name}`;
    const [saved, ended, pushed] = await (async () => {
      const locks = new LockWatch();
      const { isHeld, letGo } = locks.holdRepository();
      try {
        const saving = save(hawser.admin, [ada.name, '1.1.0', MAIN], '# saved\n');
        await isHeld;
        const ending = hawser.admin.delete(path);
        await locks.untilWaiting(1);
        const pushing = ada.push('--force', `HEAD:${DRAFT}/1.1.0`);
        await locks.untilWaiting(2);
        letGo();
        return await Promise.all([saving, ending, pushing]);
      } finally {
        locks.stop();
      }
    })();
    await ok(200, saved);
    await ok(204, ended);
    expect(pushed.code, pushed.output).to.equal(1);
    expect(pushed.output).to.include('(not_found)');
    expect((await hawser.admin.get(path)).status).to.equal(404);
  });
});
