import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { gitdirOf } from '../../../src/git/repository-layout.ts';
import { CHANGES } from '../../../src/git/types.ts';
import type { HeldHistory, ToldState } from '../../../src/versions/change-history.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { placeOf } from '../../support/engine.ts';
import { AT, BOB, makeStore, runGit } from '../git/support.ts';

describe('the story of the change sets', () => {
  let root: string;
  let database: Database;
  let store: GitStore;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'hawser-changes-'));
    database = await openDatabase(await placeOf(join(root, 'data')));
    const { repositories: tables, locks } = database;
    store = makeStore(join(root, 'repos'), [], {
      locks,
      ...(tables && { shared: { reader: tables, tables } }),
    });
    await store.prepare();
  });
  afterEach(async () => {
    await store.close();
    await database.close();
    rmSync(root, { recursive: true });
  });

  const state = (subject: string, text: string): ToldState => ({
    ...{ person: BOB, at: AT, subject },
    files: [{ path: 'change.json', content: Buffer.from(text) }],
  });
  const told = (id: number, subject: string, text = subject) =>
    store.changes.alone(async (story: HeldHistory) => {
      const oid = await story.commitState(id, state(subject, text));
      await story.note((note) => database.write.transaction().execute(note));
      return oid;
    });
  const git = async (...args: string[]) => {
    await store.folders.materialise(CHANGES);
    return runGit(gitdirOf(join(root, 'repos'), CHANGES), ...args);
  };

  it('is made with an empty commit on main, and has a branch for each set with a commit for each state', async () => {
    expect(await store.changes.has()).to.equal(false);
    expect(await store.changes.tips()).to.deep.equal(new Map());
    const first = await told(7, 'Faster web');
    const second = await told(7, 'Faster web', 'another');
    expect(await store.changes.tips()).to.deep.equal(new Map([[7, second]]));
    expect(await git('log', '--format=%H %an %s', 'change/7')).to.equal(
      `${second} Bob Faster web\n${first} Bob Faster web\n${await store.changes.mainHead()} Hawser Here the story of the change sets begins`,
    );
    expect(await git('ls-tree', '-r', 'main')).to.equal('');
    expect(await git('show', 'change/7:change.json')).to.equal('another');
    await git('fsck', '--strict');
  });

  it('forgets a state whose row could not be written', async () => {
    const kept = await told(1, 'kept');
    const failing = store.changes.alone(async (story) => {
      await story.commitState(1, state('lost', 'lost'));
      await story.commitState(2, state('lost', 'lost'));
      await story.note((note) =>
        database.write.transaction().execute(async (trx) => {
          await note(trx);
          throw new Error('the row cannot be written');
        }),
      );
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal('the row cannot be written');
    expect(await store.changes.tips()).to.deep.equal(new Map([[1, kept]]));
    const next = await told(1, 'next');
    expect(await git('rev-list', '-1', '--parents', 'change/1')).to.equal(`${next} ${kept}`);
  });

  it('brings branches back to what the rows name', async () => {
    const [kept] = [await told(1, 'kept'), await told(1, 'ahead of its row'), await told(2, 'without a row')];
    await store.changes.settle(new Map([[1, kept]]));
    expect(await store.changes.tips()).to.deep.equal(new Map([[1, kept]]));
  });

  it('moves main and a branch at once, or neither', async () => {
    const tip = await told(1, 'to be merged');
    const main = await store.changes.mainHead();
    const merge = (from: string | null) =>
      store.changes.alone(async (story) => {
        const oid = await story.writeCommit([story.main, tip], state('merged', 'merged'));
        await story.move([
          { name: 'refs/heads/change/1', from: tip, to: oid, peeled: null },
          { name: 'refs/heads/main', from, to: oid, peeled: null },
        ]);
        return oid;
      });
    expect(await merge(tip).catch((error) => error.code)).to.equal('versions_changed');
    expect([await store.changes.mainHead(), (await store.changes.tips()).get(1)]).to.deep.equal([main, tip]);
    const merged = await merge(main);
    expect([await store.changes.mainHead(), (await store.changes.tips()).get(1)]).to.deep.equal([
      merged,
      merged,
    ]);
  });
});
