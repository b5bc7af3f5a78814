// full: SQLite
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { opennessFor, ROLLOUT_CAUSES, ROLLOUT_STATES } from '../../../src/domain/rollout.ts';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { DISK } from '../../../src/git/disk.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { inspectRepository } from '../../../src/versions/inspection.ts';
import { planPush } from '../../../src/versions/push-plan.ts';
import {
  printRolloutMessage,
  readRolloutMessage,
  tidyReason,
} from '../../../src/versions/rollout-messages.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { COUNTS, messageOf, moveOn, publishInto, recordOf, rollOut } from './rollout-support.ts';
import { AT, addVersion, BOB, codeOf, makeWeb, onStore, pipeGit, publish, until, WEB } from './support.ts';

const BRANCH = 'refs/heads/rollout/1.1.0';
const rolloutOf = async (store: GitStore, version = '1.1.0') =>
  (await store.versions(WEB)).get(version)?.rollout ?? null;
const faults = (store: GitStore) => store.problems().map(({ ref, reason }) => `${ref}: ${reason}`);

async function released(store: GitStore): Promise<void> {
  await makeWeb(store, '1.0.0');
  await publish(store, '1.0.0');
}

describe('the rollout of a version', () => {
  it('is begun with its version, is in every process and in the repository, and moves', async () => {
    await onStore(async ({ store, git, moved, reopen }) => {
      await released(store);
      const begun = await rollOut(store, '1.1.0');
      expect(begun.record).to.deep.include({
        version: '1.1.0',
        tag: git('rev-parse', 'v1.1.0'),
        state: 'Running',
      });
      expect(git('ls-tree', '--name-only', 'rollout/1.1.0')).to.equal('rollout.json');
      const before = await store.versions(WEB);
      moved.length = 0;
      const paused = await moveOn(store, '1.1.0', { state: 'Paused' });
      expect(moved).to.deep.equal(['web']);
      expect((await store.versions(WEB)).versions).to.not.equal(before.versions);
      expect(git('rev-parse', 'rollout/1.1.0', 'rollout/1.1.0^')).to.equal(`${paused.oid}\n${begun.oid}`);
      for (const other of [store, await reopen()]) expect(await rolloutOf(other)).to.deep.equal(paused);
      const { versions, published, highestStable } = await store.versions(WEB);
      expect(versions.map(({ version, status }) => `${version} ${status}`)).to.deep.equal([
        '1.1.0 Published',
        '1.0.0 Published',
      ]);
      expect([published.length, highestStable?.version]).to.deep.equal([2, '1.1.0']);
      expect(faults(store)).to.deep.equal([]);
      git('fsck', '--strict');
    });
  });

  it('moves from the commit that is expected alone', async () => {
    await onStore(async ({ store }) => {
      await released(store);
      const begun = await rollOut(store, '1.1.0');
      const paused = await moveOn(store, '1.1.0', { state: 'Paused' });
      const move = (expected: string | null) =>
        codeOf(moveOn(store, '1.1.0', { state: 'Running' }, { expected }));
      for (const expected of [begun.oid, null]) expect(await move(expected)).to.equal('state_changed');
      expect(await codeOf(moveOn(store, '1.1.0', { tag: begun.oid }))).to.equal('versions_changed');
      expect(await rolloutOf(store)).to.deep.equal(paused);
    });
  });

  it('is never missing where its version is, wherever the publishing is cut off', async () => {
    for (let cut = 1, isDone = false; !isDone; cut += 1) {
      let renames = Number.NEGATIVE_INFINITY;
      let look = () => {};
      const rename = async (from: string, to: string) => {
        renames += 1;
        if (renames >= cut) throw Object.assign(new Error('killed'), { code: 'EIO' });
        await DISK.rename(from, to);
        look();
      };
      await onStore(
        async ({ store, gitdir }) => {
          await released(store);
          await addVersion(store, '1.1.0');
          look = () => {
            const [tag, branch] = ['refs/tags/v1.1.0', BRANCH].map((name) => existsSync(join(gitdir, name)));
            expect(tag && !branch, `cut ${cut}`).to.equal(false);
          };
          renames = 0;
          isDone = (await codeOf(publishInto(store, '1.1.0'))) === 'no error';
          look();
        },
        { fs: new AtomicFs({ ...DISK, rename }) },
      );
    }
  });

  it('that was begun before a version that was never published goes, and the next publishing begins another', async () => {
    await onStore(async ({ store, git, reopen }) => {
      await released(store);
      await rollOut(store, '1.1.0');
      const draft = git('rev-parse', 'v1.1.0^{commit}');
      const oid = git('rev-parse', BRANCH);
      git('update-ref', 'refs/heads/draft/1.1.0', draft);
      git('update-ref', '-d', 'refs/tags/v1.1.0');
      const later = await reopen();
      expect((await later.versions(WEB)).get('1.1.0')).to.deep.include({ status: 'Draft', rollout: null });
      await later.exclusive(WEB, async () => undefined);
      expect(git('for-each-ref', BRANCH)).to.equal('');
      // One of an earlier tag may be there still, when nobody had the lock since.
      git('update-ref', BRANCH, oid);
      const begun = await publishInto(later, '1.1.0');
      expect(git('rev-list', '--count', BRANCH)).to.equal('1');
      expect(begun.record.tag).to.equal(git('rev-parse', 'v1.1.0'));
    });
  });

  it('goes back with a failure of the work that began or moved it', async () => {
    await onStore(async ({ store, git }) => {
      await released(store);
      const begun = await rollOut(store, '1.1.0');
      const refs = git('for-each-ref');
      const failing = store.exclusive(WEB, async (repository) => {
        const move = { record: { ...begun.record, state: 'Paused' as const }, message: messageOf() };
        await repository.moveRollout('1.1.0', { ...move, author: BOB, at: AT, expected: begun.oid });
        expect(repository.index.of('').get('1.1.0')?.rollout?.record.state).to.equal('Paused');
        await repository.offerAgain('', '1.0.0');
      });
      expect(await codeOf(failing)).to.equal('not_found');
      expect(await rolloutOf(store)).to.deep.equal(begun);
      expect(git('for-each-ref')).to.equal(refs);
    });
  });

  it('follows stock git, which may move and delete it', async () => {
    await onStore(async ({ store, git }) => {
      await released(store);
      const begun = await rollOut(store, '1.1.0');
      await moveOn(store, '1.1.0', { state: 'Paused' });
      git('update-ref', BRANCH, begun.oid);
      await until(async () => (await rolloutOf(store))?.oid === begun.oid);
      git('branch', '-D', 'rollout/1.1.0');
      await until(async () => (await rolloutOf(store)) === null);
      expect((await store.versions(WEB)).published).to.have.length(2);
    });
  });

  it('counts for nothing where its content is no rollout of the version, and is reported', async () => {
    await onStore(async ({ root, store, git, gitdir, reopen }) => {
      await released(store);
      const { oid, record } = await rollOut(store, '1.1.0');
      const commitOf = (files: Record<string, string>) => {
        const lines = Object.entries(files).map(
          ([name, text]) => `100644 blob ${pipeGit(gitdir, text, 'hash-object', '-w', '--stdin')}\t${name}\n`,
        );
        const tree = pipeGit(gitdir, lines.join(''), 'mktree');
        return git('commit-tree', tree, '-m', 'by hand');
      };
      const text = git('show', 'rollout/1.1.0:rollout.json');
      const broken: [string, string][] = [
        [commitOf({ 'rollout.json': '{}' }), 'cannot be used'],
        [commitOf({ 'rollout.json': text, more: '' }), 'nothing else'],
        [commitOf({ other: text }), 'nothing else'],
        [commitOf({ 'rollout.json': text.replace('"1.1.0"', '"1.2.0"') }), 'another version'],
        [commitOf({ 'rollout.json': text.replace(record.tag ?? '', oid) }), 'as it is now'],
        [git('rev-parse', 'v1.0.0^{commit}'), 'nothing else'],
      ];
      for (const [commit, reason] of broken) {
        git('update-ref', BRANCH, commit);
        const later = await reopen();
        expect(await rolloutOf(later), reason).to.equal(null);
        expect(faults(later)).to.have.length(1);
        expect(faults(later)[0]).to.match(new RegExp(`^${BRANCH}: .*${reason}`));
      }
      const { ignoredRefs } = await inspectRepository(root, WEB);
      expect(ignoredRefs.map(({ where }) => where)).to.deep.equal([BRANCH]);
      git('update-ref', BRANCH, oid);
      const later = await reopen();
      expect(await rolloutOf(later)).to.deep.equal({ oid, record });
      expect((await inspectRepository(root, WEB)).ignoredRefs).to.deep.equal([]);
    });
  });

  it('that cannot be read leaves the version to its holders, is reported, and is not moved', async () => {
    await onStore(async ({ store, git, gitdir, reopen }) => {
      await released(store);
      const begun = await rollOut(store, '1.1.0');
      const blob = git('rev-parse', 'rollout/1.1.0:rollout.json');
      await rm(join(gitdir, 'objects', blob.slice(0, 2), blob.slice(2)));
      await rm(join(gitdir, 'hawser-checked'));
      const later = await reopen();
      const found = await rolloutOf(later);
      expect(found?.oid).to.equal(begun.oid);
      if (found) expect(opennessFor(found.record, { nodeId: 'n', ring: 'canary' })).to.equal('Holders');
      expect(faults(later)).to.deep.equal([`${BRANCH}: repository_damaged`]);
      expect(await codeOf(moveOn(later, '1.1.0', { state: 'Completed' }))).to.equal('repository_damaged');
    });
  });

  it('goes with its version, and stays through gc and packing', async () => {
    await onStore(async ({ store, git, reopen }) => {
      await released(store);
      for (const version of ['1.1.0', '1.2.0']) await rollOut(store, version);
      git('gc', '--quiet', '--prune=now');
      git('pack-refs', '--all');
      const moved = await moveOn(store, '1.2.0', { state: 'Paused' });
      await store.exclusive(WEB, async (repository) => {
        const ref = repository.index.of('').get('1.1.0');
        if (ref) await repository.deleteVersions([ref]);
      });
      expect(git('branch', '--list', 'rollout/*').trim()).to.equal('rollout/1.2.0');
      git('fsck', '--strict');
      expect(await rolloutOf(await reopen(), '1.2.0')).to.deep.equal(moved);
    });
  });

  it('is not begun while a branch is in the way of its folder', async () => {
    await onStore(async ({ store, git }) => {
      await released(store);
      git('branch', 'rollout', 'v1.0.0');
      expect(await codeOf(rollOut(store, '1.1.0'))).to.equal('in_use');
      expect((await store.versions(WEB)).get('1.1.0')?.status).to.equal('Draft');
      git('branch', '-D', 'rollout');
      expect((await publishInto(store, '1.1.0')).record.state).to.equal('Running');
    });
  });

  it('is not pushed', () => {
    const move = { name: BRANCH, from: null, to: 'a'.repeat(40) };
    try {
      planPush('configurations', [move], []);
      expect.fail('it was taken');
    } catch (error) {
      expect(error).to.be.instanceOf(HawserError).and.to.have.property('code', 'unknown_ref');
    }
  });
});

describe('the history of a rollout', () => {
  it('has each transition, oldest first, and what stock git did', async () => {
    await onStore(async ({ store, git }) => {
      await released(store);
      await rollOut(store, '1.1.0');
      const reason = 'It is late.\n\nState: Completed\nCounts: offered 99';
      const message = { what: 'Paused', reason, cause: 'Person' as const };
      await moveOn(store, '1.1.0', { state: 'Paused' }, { message });
      git('update-ref', BRANCH, git('commit-tree', `${BRANCH}^{tree}`, '-p', BRANCH, '-m', 'looked at'));
      await until(async () => (await rolloutOf(store))?.oid === git('rev-parse', BRANCH));
      const ref = (await store.versions(WEB)).get('1.1.0');
      const events = ref?.rollout ? await store.rolloutHistory(WEB, ref.rollout) : [];
      const said = { at: AT, actorName: 'Bob', counts: COUNTS };
      expect(events.slice(0, 2)).to.deep.equal([
        { ...said, what: 'Started', from: null, to: 'Running', reason: '', cause: null },
        { ...said, what: 'Paused', from: 'Running', to: 'Paused', reason, cause: 'Person' },
      ]);
      expect(events[2]).to.deep.include({
        actorName: 'Carol',
        from: 'Paused',
        to: 'Paused',
        reason: 'looked at',
      });
      expect(git('log', '-1', '--skip=1', '--format=%B', BRANCH).split('\n')).to.include.members([
        'web 1.1.0: Paused',
        'Counts: offered 10, taken 9, success 8, regression 1, already bad 0, silent 2, absent 3',
      ]);
    });
  });

  it('reads back what was written, whatever the reason is', () => {
    const line = fc.constantFrom(
      'State: Halted',
      '-----BEGIN PGP',
      ' -----BEGIN x',
      '',
      'Counts: offered 1',
      'a',
    );
    const reasons = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(line).map((lines) => lines.join('\n')),
    );
    const states = fc.constantFrom(...ROLLOUT_STATES);
    const causes = fc.option(fc.constantFrom(...ROLLOUT_CAUSES));
    fc.assert(
      fc.property(reasons, fc.option(states), states, causes, (reason, from, to, cause) => {
        const message = messageOf({ what: 'Moved', from, reason, cause });
        const text = printRolloutMessage('web 1.1.0', to, message, AT);
        expect(readRolloutMessage(text)).to.deep.equal({
          ...{ what: 'Moved', from, to, reason: tidyReason(reason), cause, counts: COUNTS },
          movedAt: new Date(AT).toISOString(),
        });
      }),
    );
  });

  it('takes no other message for one of its own', () => {
    for (const text of ['a', 'a\n\nState: Running', recordOf('1.0.0', 'a'.repeat(40)).key])
      expect(readRolloutMessage(text)).to.equal(null);
  });
});
