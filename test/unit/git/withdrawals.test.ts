// full: SQLite
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { compareVersions } from '../../../src/domain/version-order.ts';
import { inspectRepository } from '../../../src/versions/inspection.ts';
import { SortedVersions } from '../../../src/versions/sorted-versions.ts';
import type { GitStore, VersionRef } from '../../../src/versions/store.ts';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  listeningLog,
  makeWeb,
  onStore,
  publish,
  until,
  WEB,
} from './support.ts';

const BY = { tagger: BOB, at: AT, reason: 'It is bad' };

const withdraw = (store: GitStore, version: string) =>
  store.exclusive(WEB, (repository) => repository.withdraw('', version, BY));
const offerAgain = (store: GitStore, version: string) =>
  store.exclusive(WEB, (repository) => repository.offerAgain('', version));
const offered = async (store: GitStore) =>
  (await store.versions(WEB)).published.map(({ version }) => version);

async function release(store: GitStore, ...versions: string[]): Promise<void> {
  const [first, ...others] = versions;
  await makeWeb(store, first);
  await publish(store, first ?? '');
  for (const version of others) {
    await addVersion(store, version);
    await publish(store, version);
  }
}

describe('a withdrawn version', () => {
  it('is in the list of all versions and not in that of the offered ones, in every process', async () => {
    await onStore(async ({ store, moved, reopen }) => {
      await release(store, '1.0.0', '1.1.0', '1.2.0');
      const before = await store.versions(WEB);
      moved.length = 0;
      const made = await withdraw(store, '1.1.0');
      expect(made.withdrawn).to.deep.include({
        at: Math.floor(AT / 1_000) * 1_000,
        by: 'Bob',
        reason: 'It is bad',
      });
      expect(moved).to.deep.equal(['web']);
      const after = await store.versions(WEB);
      expect(after.versions).to.not.equal(before.versions);
      expect(after.versions.map(({ version, status }) => `${version} ${status}`)).to.deep.equal([
        '1.2.0 Published',
        '1.1.0 Published',
        '1.0.0 Published',
      ]);
      expect(after.highestPublishedBelow({ version: '1.2.0' })?.version).to.equal('1.0.0');
      for (const other of [store, await reopen()]) {
        expect(await offered(other)).to.deep.equal(['1.2.0', '1.0.0']);
        expect((await other.versions(WEB)).get('1.1.0')?.withdrawn).to.deep.equal(made.withdrawn);
      }
      await offerAgain(store, '1.1.0');
      expect(await offered(store)).to.deep.equal(['1.2.0', '1.1.0', '1.0.0']);
      expect(await offered(await reopen())).to.deep.equal(['1.2.0', '1.1.0', '1.0.0']);
    });
  });

  it('is offered again after a failure of the work that withdrew it, and stays withdrawn the other way round', async () => {
    await onStore(async ({ store, git }) => {
      await release(store, '1.0.0', '1.1.0');
      const refs = git('for-each-ref');
      const failing = (work: typeof withdraw) =>
        codeOf(
          store.exclusive(WEB, async (repository) => {
            if (work === withdraw) await repository.withdraw('', '1.1.0', BY);
            else await repository.offerAgain('', '1.1.0');
            expect(repository.index.of('').published).to.have.length(work === withdraw ? 1 : 2);
            await repository.offerAgain('', '1.0.0');
          }),
        );
      expect(await failing(withdraw)).to.equal('not_found');
      expect(await offered(store)).to.deep.equal(['1.1.0', '1.0.0']);
      expect(git('for-each-ref')).to.equal(refs);
      await withdraw(store, '1.1.0');
      const withdrawn = git('for-each-ref');
      expect(await failing(offerAgain)).to.equal('not_found');
      expect(await offered(store)).to.deep.equal(['1.0.0']);
      expect(git('for-each-ref')).to.equal(withdrawn);
    });
  });

  it('stays withdrawn through gc, repack and pack-refs, and its ref is packed with the others', async () => {
    await onStore(async ({ store, git, gitdir, reopen }) => {
      const versions = Array.from({ length: 60 }, (_, minor) => `1.${minor}.0`);
      await release(store, ...versions);
      for (const version of versions.slice(0, 50)) await withdraw(store, version);
      const packed = () => readFileSync(join(gitdir, 'packed-refs'), 'utf8');
      const commit = git('rev-parse', 'v1.0.0^{commit}');
      const line = `refs/tags/withdrawn/v1.0.0\n^${commit}\n`;
      await until(() => existsSync(join(gitdir, 'packed-refs')) && packed().includes(line));
      git('gc', '--quiet', '--prune=now');
      git('pack-refs', '--all');
      git('fsck', '--strict');
      for (const other of [store, await reopen()]) {
        await other.exclusive(WEB, async () => undefined);
        expect(await offered(other)).to.have.length(10);
      }
    });
  });

  it('is told apart from one whose withdrawal cannot be read: that stays withdrawn, and is reported', async () => {
    await onStore(async ({ store, git, gitdir, reopen }) => {
      await release(store, '1.0.0', '1.1.0');
      await withdraw(store, '1.1.0');
      const oid = git('rev-parse', 'refs/tags/withdrawn/v1.1.0');
      await rm(`${gitdir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
      await rm(`${gitdir}/hawser-checked`);
      const later = await reopen();
      expect(await offered(later)).to.deep.equal(['1.0.0']);
      expect(later.problems()).to.deep.include({
        repository: WEB,
        ref: 'refs/tags/withdrawn/v1.1.0',
        reason: 'repository_damaged',
      });
    });
  });

  it('is nothing that an inspection reports; a tag that withdraws nothing is', async () => {
    const { log } = listeningLog();
    await onStore(
      async ({ store, git, root }) => {
        await release(store, '1.0.0', '1.1.0');
        await withdraw(store, '1.1.0');
        const sound = await inspectRepository(root, WEB);
        expect(sound).to.deep.include({ faults: [], unreachable: [], ignoredRefs: [] });
        git('tag', '-a', 'withdrawn/v1.0.0', '-m', 'on the commit', 'v1.0.0^{commit}');
        const { ignoredRefs } = await inspectRepository(root, WEB);
        expect(ignoredRefs.map(({ where }) => where)).to.deep.equal(['refs/tags/withdrawn/v1.0.0']);
        expect(ignoredRefs[0]?.what).to.contain('v1.0.0 itself');
      },
      { log },
    );
  });
});

describe('the sorted versions', () => {
  const arbitrary = fc.record({
    version: fc
      .tuple(fc.nat(3), fc.nat(3), fc.constantFrom('', '-rc.1'))
      .map(([a, b, rc]) => `${a}.${b}.0${rc}`),
    state: fc.constantFrom('Draft', 'Published', 'Withdrawn', null),
  });
  const refOf = (version: string, state: string, tag: number): VersionRef => ({
    name: version,
    series: '',
    version,
    status: state === 'Draft' ? 'Draft' : 'Published',
    oid: version,
    rollout: null,
    commit: null,
    withdrawn: state === 'Withdrawn' ? { tag: String(tag), at: 0, by: '', reason: '' } : null,
  });

  it('offer exactly what is published and not withdrawn, in order, whatever came, went and was withdrawn', () => {
    fc.assert(
      fc.property(fc.array(fc.array(arbitrary, { maxLength: 20 }), { maxLength: 8 }), (rounds) => {
        const expected = new Map<string, VersionRef>();
        let sorted = SortedVersions.EMPTY;
        for (const [round, changes] of rounds.entries()) {
          const next = new Map(
            changes.map(({ version, state }) => [version, state && refOf(version, state, round)] as const),
          );
          for (const [version, ref] of next) {
            if (ref) expected.set(version, ref);
            else expected.delete(version);
          }
          sorted = sorted.with(next);
        }
        const all = [...expected.values()].sort((a, b) => compareVersions(b.version, a.version));
        const open = all.filter(({ status, withdrawn }) => status === 'Published' && withdrawn === null);
        expect(sorted.versions).to.deep.equal(all);
        expect(sorted.published).to.deep.equal(open);
        const stable = open.find(({ version }) => !version.includes('-'));
        expect(sorted.highestStable?.version).to.equal(stable?.version);
        for (const { version } of all) {
          const below = open.find((other) => compareVersions(other.version, version) < 0);
          expect(sorted.highestPublishedBelow({ version })?.version).to.equal(below?.version);
        }
      }),
    );
  });

  it('differ when one of them was withdrawn, withdrawn anew or offered again', () => {
    const one = (state: string, tag: number) =>
      SortedVersions.EMPTY.with(new Map([['1.0.0', refOf('1.0.0', state, tag)]]));
    expect(one('Withdrawn', 1).equals(one('Withdrawn', 1))).to.equal(true);
    expect(one('Withdrawn', 1).equals(one('Withdrawn', 2))).to.equal(false);
    expect(one('Withdrawn', 1).equals(one('Published', 1))).to.equal(false);
  });
});
