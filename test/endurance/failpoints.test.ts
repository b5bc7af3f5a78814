import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { WholeObject } from '../../src/git/objects.ts';
import { packRefs } from '../../src/git/refs.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { systemActor } from '../../src/security/audit.ts';
import type { GitStore, VersionRef } from '../../src/versions/store.ts';
import { failureOf } from '../support/failures.ts';
import { sharedWorkshop } from '../support/hand-made-push.ts';
import { ageLocks, BreakingFs, breakEverywhere } from '../unit/git/breaking.ts';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  draftOf,
  EMPTY_COMPOSITE,
  file,
  makePublishedWeb,
  makeWeb,
  onStore,
  publish,
  replace,
  runGit,
  settingsOf,
  summary,
  WEB,
} from '../unit/git/support.ts';

/** Makes a draft with the files of 1.0.0. */
function copy(store: GitStore, version: string) {
  return store.exclusive(WEB, async (repository) => {
    const from = repository.index.of('').get('1.0.0');
    const { commit, files } = await store.details(WEB, from as VersionRef);
    return repository.writeDraft('', { ...draftOf(version), files: { commit, files } });
  });
}

/** What a tip of the workshop leads to. */
async function* objectsOf(oid: string): AsyncGenerator<WholeObject> {
  const workshop = sharedWorkshop();
  const listed = workshop.git(['rev-list', '--objects', '--no-object-names', oid]).toString().trim();
  for (const one of listed.split('\n')) {
    const type = workshop.git(['cat-file', '-t', one]).toString().trim() as WholeObject['type'];
    yield { type, content: workshop.git(['cat-file', type, one]) };
  }
}

describe('the store when the disk fails', () => {
  it('has made a repository whole or not at all, wherever the creation broke off', async () => {
    const breaks = await breakEverywhere(
      async () => undefined,
      (store) => makeWeb(store),
      async (store, gitdir) => {
        if (await store.has(WEB)) {
          expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
          expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        } else await makeWeb(store);
      },
    );
    expect(breaks).to.be.greaterThan(15);
  });

  it('has written a draft or not, wherever the writing broke off', async () => {
    await breakEverywhere(
      (store) => makeWeb(store),
      (store) => addVersion(store, '1.1.0'),
      async (store) => {
        const versions = await summary(store);
        if (versions.length === 1) await addVersion(store, '1.1.0');
        expect(await summary(store)).to.deep.equal(['1.1.0 Draft', '1.0.0 Draft']);
      },
    );
  });

  it('has published or not, wherever the publishing broke off, and the rest is made good', async () => {
    const seen = new Set<string>();
    await breakEverywhere(
      async (store) => {
        await makeWeb(store);
        runGit(join(store.root, 'configurations/web.git'), 'pack-refs', '--all');
      },
      (store) => publish(store, '1.0.0'),
      async (store, gitdir) => {
        const [state] = await summary(store);
        seen.add(state ?? '');
        if (state === '1.0.0 Draft') await publish(store, '1.0.0');
        expect(await summary(store)).to.deep.equal(['1.0.0 Published']);
        expect(runGit(gitdir, 'for-each-ref', '--format=%(refname)')).to.equal(
          'refs/heads/main\nrefs/tags/v1.0.0',
        );
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        // The first who takes the lock sweeps what would be in stock git's way.
        await store.exclusive(WEB, async () => undefined);
        runGit(gitdir, 'pack-refs', '--all');
      },
    );
    expect([...seen]).to.have.members(['1.0.0 Draft', '1.0.0 Published']);
  });

  for (const status of ['Draft', 'Published'] as const)
    it(`has taken a push or not, wherever it broke off: ${status}`, async () => {
      const tip = sharedWorkshop().commit({ 'main.dsc.yaml': `${status}\n` }, 'pushed');
      const oid = status === 'Draft' ? tip : sharedWorkshop().tag(tip, '1.1.0');
      const take = async (store: GitStore, from: string | null) => {
        await store.writeObjects(WEB, objectsOf(oid));
        return store.exclusive(WEB, (repository) =>
          repository.takePushes(
            [
              {
                series: '',
                version: '1.1.0',
                ...(status === 'Draft' && { from }),
                to: status === 'Draft' ? { draft: oid } : { tag: oid, commit: tip },
                isPassthrough: false,
                record: { createdAt: AT, creator: BOB, pusher: BOB, pushedAt: AT + MINUTE },
                entry: {
                  actor: systemActor(AT),
                  resourceId: 'web',
                  action: 'configuration.version_created',
                  details: {},
                },
              },
            ],
            null,
          ),
        );
      };
      const before = async (store: GitStore) => (await store.versions(WEB)).get('1.1.0')?.oid ?? null;
      const seen = new Set<boolean>();
      await breakEverywhere(
        async (store) => {
          await makeWeb(store);
          await addVersion(store, '1.1.0');
        },
        async (store) => take(store, await before(store)),
        async (store, gitdir) => {
          const found = (await store.versions(WEB)).get('1.1.0') ?? expect.fail();
          const isTaken = found.oid === oid;
          seen.add(isTaken);
          if (isTaken) expect(found.pushed?.pushedAt).to.equal(AT + MINUTE);
          else {
            expect(found.status).to.equal('Draft');
            expect(found.pushed).to.equal(undefined);
            await take(store, found.oid);
          }
          await store.exclusive(WEB, async () => undefined);
          expect(await summary(store)).to.deep.equal([`1.1.0 ${status}`, '1.0.0 Draft']);
          const { pusher } = (await store.versions(WEB)).get('1.1.0')?.pushed ?? expect.fail();
          expect(pusher).to.deep.equal(BOB);
          expect(runGit(gitdir, 'for-each-ref', '--format=%(refname)').split('\n')).to.have.length(
            status === 'Draft' ? 3 : 4,
          );
          expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        },
      );
      expect([...seen]).to.have.members([true, false]);
    });

  it('has withdrawn a version or not, and offered it again or not, wherever that broke off', async () => {
    const by = { tagger: BOB, at: AT, reason: 'bad' };
    const works: ((store: GitStore) => Promise<unknown>)[] = [
      (store) => store.exclusive(WEB, (repository) => repository.withdraw('', '1.1.0', by)),
      (store) => store.exclusive(WEB, (repository) => repository.offerAgain('', '1.1.0')),
    ];
    for (const work of works) {
      const isBack = work === works[1];
      const seen = new Set<string>();
      const breaks = await breakEverywhere(
        async (store) => {
          await makePublishedWeb(store);
          await addVersion(store, '1.1.0');
          await publish(store, '1.1.0');
          if (isBack) await works[0]?.(store);
          const gitdir = join(store.root, 'configurations/web.git');
          if (isBack) runGit(gitdir, 'pack-refs', '--all');
        },
        work,
        async (store, gitdir) => {
          const index = await store.versions(WEB);
          const { withdrawn } = index.get('1.1.0') ?? expect.fail();
          if (withdrawn) expect(withdrawn).to.deep.include({ by: 'Bob', reason: 'bad' });
          const offered = index.published.map(({ version }) => version);
          expect(offered).to.deep.equal(withdrawn ? ['1.0.0'] : ['1.1.0', '1.0.0']);
          seen.add(withdrawn ? 'withdrawn' : 'offered');
          await store.exclusive(WEB, async () => undefined);
          expect(runGit(gitdir, 'rev-parse', 'main')).to.equal(
            runGit(gitdir, 'rev-parse', `v${offered[0]}^{commit}`),
          );
          expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
          if (isBack === (withdrawn !== null)) await work(store);
          runGit(gitdir, 'pack-refs', '--all');
        },
      );
      expect([...seen]).to.have.members(['withdrawn', 'offered']);
      expect(breaks).to.be.greaterThan(5);
    }
  });

  it('has removed a withdrawn version or not, and never offers it again, wherever that broke off', async () => {
    await breakEverywhere(
      async (store) => {
        await makePublishedWeb(store);
        await addVersion(store, '1.1.0');
        await publish(store, '1.1.0');
        runGit(join(store.root, 'configurations/web.git'), 'pack-refs', '--all');
        await store.exclusive(WEB, (repository) =>
          repository.withdraw('', '1.1.0', { tagger: BOB, at: AT, reason: 'bad' }),
        );
      },
      (store) =>
        store.exclusive(WEB, (repository) =>
          repository.deleteVersions(repository.index.of('').versions.slice(0, 1)),
        ),
      async (store, gitdir) => {
        expect((await store.versions(WEB)).published.map(({ version }) => version)).to.deep.equal(['1.0.0']);
        await store.exclusive(WEB, async () => undefined);
        const isLeft = (await store.versions(WEB)).versions.length === 2;
        const names = isLeft ? 'v1.0.0\nv1.1.0\nwithdrawn/v1.1.0' : 'v1.0.0';
        expect(runGit(gitdir, 'tag')).to.equal(names);
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
      },
    );
  });

  it('has replaced a draft or not, wherever the replacing broke off', async () => {
    const seen = new Set<string>();
    await breakEverywhere(
      (store) => makeWeb(store),
      (store) => replace(store, '1.0.0', [file('main.dsc.yaml', 'new')]),
      async (store, gitdir) => {
        expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
        seen.add(runGit(gitdir, 'show', 'draft/1.0.0:main.dsc.yaml'));
        await replace(store, '1.0.0', [file('main.dsc.yaml', 'newer')]);
        expect(runGit(gitdir, 'show', 'draft/1.0.0:main.dsc.yaml')).to.equal('newer');
      },
    );
    expect([...seen]).to.have.members(['v1.0.0', 'new']);
  });

  it('has saved or deleted a file of a draft or not, wherever that broke off', async () => {
    for (const [content, after] of [
      ['new', 'lib/a.txt new'],
      [null, ''],
    ] as const) {
      const seen = new Set<string>();
      const edit = { path: 'lib/a.txt', content: content && Buffer.from(content), author: BOB, at: AT };
      await breakEverywhere(
        (store) => makeWeb(store, '1.0.0', [file('main.dsc.yaml', 'x'), file('lib/a.txt', 'old')]),
        (store) => store.exclusive(WEB, (repository) => repository.editDraft('', '1.0.0', edit)),
        async (store, gitdir) => {
          expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
          const [path = ''] = runGit(gitdir, 'ls-tree', '-r', '--name-only', 'draft/1.0.0', 'lib').split(
            '\n',
          );
          seen.add(path && `${path} ${runGit(gitdir, 'show', `draft/1.0.0:${path}`)}`);
          const again = { ...edit, path: 'b.txt', content: Buffer.from('b') };
          await store.exclusive(WEB, (repository) => repository.editDraft('', '1.0.0', again));
          expect(runGit(gitdir, 'show', 'draft/1.0.0:b.txt')).to.equal('b');
          expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        },
      );
      expect([...seen]).to.have.members(['lib/a.txt old', after]);
    }
  });

  it('has moved an edited draft with its publishing or not, wherever that broke off', async () => {
    const seen = new Set<string>();
    const edit = { path: 'a.txt', content: Buffer.from('a'), author: BOB, at: AT };
    await breakEverywhere(
      async (store) => {
        await makeWeb(store);
        await addVersion(store, '1.1.0');
        await store.exclusive(WEB, (repository) => repository.editDraft('', '1.1.0', edit));
        await publish(store, '1.0.0');
      },
      (store) => publish(store, '1.1.0'),
      async (store, gitdir) => {
        const [state] = await summary(store);
        seen.add(state ?? '');
        if (state === '1.1.0 Draft') await publish(store, '1.1.0');
        expect(runGit(gitdir, 'rev-parse', 'main~2')).to.equal(
          runGit(gitdir, 'rev-parse', 'v1.0.0^{commit}'),
        );
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
      },
    );
    expect([...seen]).to.have.members(['1.1.0 Draft', '1.1.0 Published']);
  });

  it('has copied a version or not, wherever the copying broke off', async () => {
    await breakEverywhere(
      (store) => makeWeb(store),
      (store) => copy(store, '1.1.0'),
      async (store, gitdir) => {
        if ((await summary(store)).length === 1) await copy(store, '1.1.0');
        expect(await summary(store)).to.deep.equal(['1.1.0 Draft', '1.0.0 Draft']);
        expect(runGit(gitdir, 'show', 'draft/1.1.0:main.dsc.yaml')).to.equal('v1.0.0');
      },
    );
  });

  it('loses no ref, wherever the packing of refs broke off', () => {
    const fs = new BreakingFs();
    return onStore(
      async ({ store, root, gitdir, git }) => {
        await makePublishedWeb(store);
        await addVersion(store, '1.1.0');
        const refs = () => git('for-each-ref');
        const before = refs();
        const entries = before.split('\n').map((line) => {
          const [oid = '', , name = ''] = line.split(/\s/);
          return { oid, name, peeled: name.includes('tags') ? git('rev-parse', `${oid}^{}`) : null };
        });
        const packing = { fs, log: createLog('silent'), gitdir };
        for (let steps = 0; fs.left === Number.POSITIVE_INFINITY || fs.left < 0; steps += 1) {
          fs.left = steps;
          await packRefs(packing, entries).catch(() => undefined);
          expect(refs()).to.equal(before);
          await ageLocks(root);
          await rm(join(gitdir, 'packed-refs.new'), { force: true });
        }
        // Where the break came between a loose ref and its lock, the lock is left; the next who wants it takes it over.
        const left = (await readdir(join(gitdir, 'refs/tags'))).filter((name) => !name.endsWith('.lock'));
        expect(left).to.deep.equal([]);
        expect(git('fsck', '--strict')).to.not.contain('error');
      },
      { fs },
      false,
    );
  });

  it('answers insufficient_storage when the disk is full, and names no path', () => {
    const fs = new BreakingFs();
    return onStore(
      async ({ store }) => {
        await makeWeb(store);
        for (const [errno, code] of [
          ['ENOSPC', 'insufficient_storage'],
          ['EDQUOT', 'insufficient_storage'],
          ['EIO', 'unavailable'],
        ] as const) {
          fs.errno = errno;
          fs.left = 2;
          const files = [file('main.dsc.yaml', errno)];
          const writing = store.exclusive(WEB, (r) => r.writeDraft('', draftOf('1.1.0', files)));
          const failure = await failureOf(writing);
          expect(failure).to.include({ code });
          expect(failure.message).to.not.contain('/');
          const other = { kind: 'composites', name: 'web' } as const;
          fs.left = 3;
          const composite = draftOf('1.0.0', [file('composite.json', EMPTY_COMPOSITE)]);
          expect(await codeOf(store.create(other, settingsOf(), composite))).to.equal(code);
          fs.left = Number.POSITIVE_INFINITY;
          expect(await store.list('composites')).to.deep.equal([]);
          expect(await summary(store)).to.deep.equal(['1.0.0 Draft']);
        }
      },
      { fs },
      false,
    );
  });
});
