// full: SQLite
import { expect } from 'chai';
import { sign } from '../../../src/git/commits.ts';
import { inspectRepository } from '../../../src/versions/inspection.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import {
  DEFAULT,
  filesOf,
  onParameters,
  PARAMETERS,
  PROD,
  portOf,
  release,
  TEST,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from './parameter-support.ts';
import { AT, BOB, codeOf } from './support.ts';

const BY = { tagger: BOB, at: AT, reason: 'It is bad' };
const SIGNATURE = sign(BOB, AT);

const withdraw = (store: GitStore, series: string, version: string) =>
  store.exclusive(PARAMETERS, (parameters) => parameters.withdraw(series, version, BY));
const offerAgain = (store: GitStore, series: string, version: string) =>
  store.exclusive(PARAMETERS, (parameters) => parameters.offerAgain(series, version));
const indexOf = async (store: GitStore, series: string) =>
  (await store.parameters.index(WEB_PARAMETERS)).of(series);
const offered = async (store: GitStore, series: string) =>
  (await indexOf(store, series)).published.map(({ version }) => version);

describe('a withdrawn parameter file', () => {
  it('is offered no more, in its own series alone, and in every process', () =>
    onParameters(async ({ store, git, reopen }) => {
      for (const series of [DEFAULT, PROD, TEST])
        for (const version of ['1.0.0', '1.1.0']) await release(store, series, version);
      const tag = git('rev-parse', 'Environment/prod/v1.1.0');
      const made = await withdraw(store, PROD, '1.1.0');
      expect(made.withdrawn).to.deep.include({ by: 'Bob', reason: 'It is bad' });
      await withdraw(store, DEFAULT, '1.0.0');
      const text = git('cat-file', 'tag', 'refs/tags/withdrawn/Environment/prod/v1.1.0');
      expect(text).to.match(new RegExp(`^object ${tag}\ntype tag\ntag withdrawn/Environment/prod/v1.1.0\n`));
      for (const other of [store, await reopen()]) {
        expect(await offered(other, PROD)).to.deep.equal(['1.0.0']);
        expect(await offered(other, TEST)).to.deep.equal(['1.1.0', '1.0.0']);
        expect(await offered(other, DEFAULT)).to.deep.equal(['1.1.0']);
        expect((await indexOf(other, PROD)).get('1.1.0')?.withdrawn).to.deep.equal(made.withdrawn);
        expect(await textOf(other, PROD, '1.1.0')).to.equal(portOf(80));
        expect(other.problems()).to.deep.equal([]);
      }
      await offerAgain(store, PROD, '1.1.0');
      expect(await codeOf(offerAgain(store, PROD, '1.1.0'))).to.equal('not_found');
      for (const other of [store, await reopen()])
        expect(await offered(other, PROD)).to.deep.equal(['1.1.0', '1.0.0']);
      expect(git('tag', '--list', 'withdrawn/*')).to.equal('withdrawn/Default/v1.0.0');
    }));

  it('is no draft, and a new draft stands on the highest that is offered', () =>
    onParameters(async ({ store, git }) => {
      for (const version of ['1.0.0', '1.1.0']) await release(store, PROD, version);
      await writeFile(store, PROD, '1.2.0');
      expect(await codeOf(withdraw(store, PROD, '1.2.0'))).to.equal('not_published');
      expect(await codeOf(withdraw(store, PROD, '1.3.0'))).to.equal('not_found');
      await withdraw(store, PROD, '1.1.0');
      await writeFile(store, PROD, '1.3.0');
      expect(git('rev-parse', 'draft/Environment/prod/1.3.0^')).to.equal(
        git('rev-parse', 'Environment/prod/v1.0.0^{commit}'),
      );
    }));

  it('is withdrawn by stock git as well; a tag that withdraws nothing is reported', () =>
    onParameters(async ({ root, store, git, reopen }) => {
      await release(store, PROD, '1.0.0');
      await release(store, TEST, '1.0.0');
      git('tag', '-a', 'withdrawn/Environment/prod/v1.0.0', '-m', 'by hand', 'Environment/prod/v1.0.0');
      const later = await reopen();
      expect((await indexOf(later, PROD)).get('1.0.0')?.withdrawn).to.deep.include({
        by: 'Carol',
        reason: 'by hand',
      });
      expect((await inspectRepository(root, PARAMETERS)).ignoredRefs).to.deep.equal([]);
      git('tag', '-a', 'withdrawn/Environment/test/v1.0.0', '-m', 'x', 'Environment/test/v1.0.0^{commit}');
      const { ignoredRefs } = await inspectRepository(root, PARAMETERS);
      expect(ignoredRefs.map(({ where }) => where)).to.deep.equal([
        'refs/tags/withdrawn/Environment/test/v1.0.0',
      ]);
      expect(await offered(later, TEST)).to.deep.equal(['1.0.0']);
    }));

  it('cannot be made while a ref stands where one of the folders of its tag belongs', () =>
    onParameters(async ({ store, git }) => {
      await release(store, PROD, '1.0.0');
      git('tag', 'withdrawn/Environment', 'Environment/prod/v1.0.0');
      expect(await codeOf(withdraw(store, PROD, '1.0.0'))).to.equal('in_use');
      git('tag', '-d', 'withdrawn/Environment');
      await withdraw(store, PROD, '1.0.0');
      expect(await offered(store, PROD)).to.deep.equal([]);
    }));

  it('takes its withdrawal along when it is removed, and one of a version that is gone is dropped', () =>
    onParameters(async ({ store, git }) => {
      for (const version of ['1.0.0', '1.1.0', '1.2.0']) await release(store, PROD, version);
      await withdraw(store, PROD, '1.0.0');
      await withdraw(store, PROD, '1.1.0');
      await store.exclusive(PARAMETERS, (parameters) =>
        parameters.deleteVersions(parameters.index.of(PROD).versions.slice(-1)),
      );
      expect(git('tag', '--list', 'withdrawn/*')).to.equal('withdrawn/Environment/prod/v1.1.0');
      git('tag', '-d', 'Environment/prod/v1.1.0');
      await store.exclusive(PARAMETERS, async () => undefined);
      expect(git('tag')).to.equal('Environment/prod/v1.2.0');
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  for (const [what, from, to, series] of [
    [
      'its value',
      { scopeType: 'Environment', value: 'prod' },
      { scopeType: 'Environment', value: 'live' },
      'Environment/live',
    ],
    [
      'its type',
      { scopeType: 'Environment', value: null },
      { scopeType: 'Stage', value: null },
      'Stage/prod',
    ],
  ] as const)
    it(`stays withdrawn when ${what} gets another name, at each moment of that`, () =>
      onParameters(async ({ store, git, reopen }) => {
        for (const version of ['1.0.0', '1.1.0', '1.2.0']) await release(store, PROD, version);
        await withdraw(store, PROD, '1.1.0');
        await withdraw(store, PROD, '1.2.0');
        await store.exclusive(PARAMETERS, (parameters) => parameters.copyScope({ from, to }));
        for (const other of [store, await reopen()])
          for (const each of [PROD, series]) expect(await offered(other, each)).to.deep.equal(['1.0.0']);
        await store.exclusive(PARAMETERS, (parameters) => parameters.leaveScope({ from, to }, SIGNATURE));
        const later = await reopen();
        expect(await filesOf(later, PROD)).to.deep.equal([]);
        expect(await offered(later, series)).to.deep.equal(['1.0.0']);
        expect((await indexOf(later, series)).get('1.2.0')?.withdrawn).to.deep.include({
          at: Math.floor(AT / 1_000) * 1_000,
          by: 'Bob',
          reason: 'It is bad',
        });
        expect(git('tag', '--list', 'withdrawn/*').split('\n')).to.deep.equal([
          `withdrawn/${series}/v1.1.0`,
          `withdrawn/${series}/v1.2.0`,
        ]);
        expect(later.problems()).to.deep.equal([]);
        await offerAgain(later, series, '1.2.0');
        expect(await offered(later, series)).to.deep.equal(['1.2.0', '1.0.0']);
        expect(git('fsck', '--strict')).to.not.contain('error');
      }));

  it('is told apart from a version of a scope type that an earlier release let be called "withdrawn"', () =>
    onParameters(async ({ store, reopen }) => {
      await release(store, 'withdrawn/prod', '1.0.0');
      await release(store, 'withdrawn/prod', '1.1.0');
      await withdraw(store, 'withdrawn/prod', '1.1.0');
      for (const other of [store, await reopen()]) {
        expect(await filesOf(other, 'withdrawn/prod')).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
        expect(await offered(other, 'withdrawn/prod')).to.deep.equal(['1.0.0']);
        expect(other.problems()).to.deep.equal([]);
      }
    }));
});
