// full: SQLite
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitStore, VersionDetails } from '../../../src/versions/store.ts';
import { itWith } from '../../support/optional-tools.ts';
import {
  ALICE,
  AT,
  addVersion,
  BOB,
  file,
  makePublishedWeb,
  onStore,
  pipeGit,
  publish,
  replace,
  WEB,
  type Workbench,
} from './support.ts';

const CAROL = { name: 'Carol', email: 'carol@example.org' };
const ENTRY = 'main.dsc.yaml';
const MESSAGE = `Why it was made.\n\nEntry-Point: ${ENTRY}`;

const armored = (kind: string) =>
  `-----BEGIN ${kind}-----\n\niQEzBAABCAAdFiEEyWpxUTBQnbIPlH4QV0TcD\n=abcd\n-----END ${kind}-----`;

const KINDS = [
  ['PGP SIGNATURE', 'OpenPgp'],
  ['PGP MESSAGE', 'OpenPgp'],
  ['SSH SIGNATURE', 'Ssh'],
  ['SIGNED MESSAGE', 'X509'],
] as const;

/** One repository, in which stock git makes what the tests want. */
class Site {
  private readonly bench: Workbench;
  readonly git: Workbench['git'];
  private readonly signing: string[];

  constructor(bench: Workbench) {
    this.bench = bench;
    this.git = bench.git;
    const key = join(bench.root, 'key');
    this.signing = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`];
  }

  makeKey(): void {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.bench.root, 'key')]);
  }

  /** Runs git with the key. */
  sign(...args: string[]): string {
    return this.git(...this.signing, ...args);
  }

  /** The tree of the first version. */
  get tree(): string {
    return this.git('rev-parse', 'v1.0.0^{tree}');
  }

  commit(message = MESSAGE, headers = '', author = 'Carol <carol@example.org>'): string {
    const people = `author ${author} 1790000000 +0200\ncommitter Carol <carol@example.org> 1790000000 +0200\n`;
    return this.write('commit', `tree ${this.tree}\n${people}${headers}\n${message}\n`);
  }

  /** A tag of a version by its text, as stock git writes it. */
  tag(version: string, commit: string, text: string): void {
    const head = `object ${commit}\ntype commit\ntag v${version}\ntagger Carol <carol@example.org> 1790000000 +0200\n`;
    this.git('update-ref', `refs/tags/v${version}`, this.write('tag', `${head}\n${text}`));
  }

  draft(version: string, commit: string): void {
    this.git('update-ref', `refs/heads/draft/${version}`, commit);
  }

  private write(type: 'commit' | 'tag', text: string): string {
    return pipeGit(this.bench.gitdir, text, 'hash-object', '-t', type, '-w', '--stdin');
  }
}

/** Runs `work` beside a published version 1.0.0. */
function onSite(
  work: (site: Site, show: (version: string) => Promise<VersionDetails>, bench: Workbench) => Promise<void>,
): Promise<void> {
  return onStore(async (bench) => {
    await makePublishedWeb(bench.store);
    await work(new Site(bench), (version) => readBy(bench.store, version), bench);
  });
}

async function readBy(store: GitStore, version: string): Promise<VersionDetails> {
  // Whoever takes the lock looks at the refs first.
  await store.exclusive(WEB, async () => undefined);
  return store.details(WEB, (await store.versions(WEB)).get(version) ?? expect.fail(version));
}

function header(kind: string): string {
  return `gpgsig ${armored(kind).replaceAll('\n', '\n ')}\n`;
}

describe('the signature of a version', () => {
  itWith(
    ['ssh-keygen'],
    'is that of a tag which stock git has signed, and no part of what the tag says',
    () =>
      onSite(async (site, show) => {
        site.makeKey();
        const commit = site.commit('Only a commit.');
        // A version that is no SemVer counts by its trailer alone.
        for (const version of ['2.0.0', 'spring'])
          site.sign('tag', '-s', '-m', MESSAGE, `v${version}`, commit);
        expect(site.git('cat-file', 'tag', 'v2.0.0')).to.match(/\n-----BEGIN SSH SIGNATURE-----\n/);
        for (const version of ['2.0.0', 'spring'])
          expect(await show(version)).to.deep.include({
            signature: 'Ssh',
            message: 'Why it was made.',
            entryPoint: ENTRY,
            author: CAROL,
          });
      }),
  );

  itWith(
    ['ssh-keygen'],
    'is that of a commit which stock git has signed, for a draft and for a tag without one',
    () =>
      onSite(async (site, show) => {
        site.makeKey();
        const commit = site.sign('commit-tree', '-S', '-m', MESSAGE, site.tree);
        site.draft('2.0.0', commit);
        site.git('tag', '-a', '-m', 'Not signed', 'v2.1.0', commit);
        expect(await show('2.0.0')).to.include({ signature: 'Ssh', message: 'Why it was made.' });
        expect(await show('2.1.0')).to.include({ signature: 'Ssh', message: 'Not signed' });
        expect((await show('1.0.0')).signature).to.equal(null);
      }),
  );

  for (const [kind, signature] of KINDS) {
    it(`is ${signature} where git's object says ${kind}`, () =>
      onSite(async (site, show) => {
        const commit = site.commit();
        site.tag('2.0.0', commit, `${MESSAGE}\n${armored(kind)}\n`);
        site.tag('2.1.0', commit, `${MESSAGE}\n${armored(kind)}\n`.replaceAll('\n', '\r\n'));
        site.tag('spring', site.commit('Only a commit.'), `${MESSAGE}\n${armored(kind)}\n`);
        const told = { signature, message: 'Why it was made.', entryPoint: ENTRY };
        for (const version of ['2.0.0', '2.1.0', 'spring']) expect(await show(version)).to.include(told);

        site.draft('3.0.0', site.commit(MESSAGE, header(kind)));
        expect(await show('3.0.0')).to.include(told);
      }));
  }

  it('is that of the tag where the commit has one too', () =>
    onSite(async (site, show) => {
      const commit = site.commit(MESSAGE, header('SSH SIGNATURE'));
      site.tag('2.0.0', commit, `${MESSAGE}\n${armored('PGP SIGNATURE')}\n`);
      site.tag('2.1.0', commit, `${MESSAGE}\n${armored('SIGNED MESSAGE')}\n`);
      site.tag('2.2.0', commit, `${MESSAGE}\n`);
      const signatures = ['2.0.0', '2.1.0', '2.2.0'].map(async (version) => (await show(version)).signature);
      expect(await Promise.all(signatures)).to.deep.equal(['OpenPgp', 'X509', 'Ssh']);
    }));

  it('is none where something else looks like one', () =>
    onSite(async (site, show) => {
      site.draft('2.0.0', site.commit(`${MESSAGE}\n${armored('PGP SIGNATURE')}`));
      site.draft('2.1.0', site.commit(MESSAGE, header('CERTIFICATE')));
      const late = header('PGP SIGNATURE').replace('gpgsig', 'gpgsig x\n');
      site.draft('2.2.0', site.commit(MESSAGE, late));
      site.tag('3.0.0', site.commit(), `${MESSAGE}\n${armored('CERTIFICATE')}\n`);
      site.tag('3.1.0', site.commit(), `It has no -----BEGIN SSH SIGNATURE-----\n\nEntry-Point: ${ENTRY}\n`);
      site.tag('3.2.0', site.commit(), `A separator\u2028-----BEGIN SSH SIGNATURE-----\n`);
      for (const version of ['2.0.0', '2.1.0', '2.2.0', '3.0.0', '3.1.0', '3.2.0'])
        expect((await show(version)).signature, version).to.equal(null);
      for (const version of ['2.0.0', '3.0.0'])
        expect(await show(version)).to.include({ message: 'Why it was made.', entryPoint: ENTRY });
    }));

  itWith(
    ['ssh-keygen'],
    'leaves the message to the commit where the tag has nothing but the signature, or nothing at all',
    () =>
      onSite(async (site, show) => {
        site.makeKey();
        const commit = site.commit();
        site.git('tag', '-a', '-m', '', 'v2.0.0', commit);
        site.sign('tag', '-s', '-m', '', 'v2.1.0', commit);
        site.tag('2.2.0', commit, `${armored('PGP SIGNATURE')}\n`);
        site.tag('2.3.0', commit, `${armored('SIGNED MESSAGE')}\n`);
        const versions = { '2.0.0': null, '2.1.0': 'Ssh', '2.2.0': 'OpenPgp', '2.3.0': 'X509' };
        for (const [version, signature] of Object.entries(versions))
          expect(await show(version), version).to.include({ message: 'Why it was made.', signature });
      }),
  );
});

describe('the author of a version', () => {
  it('is whom the commit names, whoever tagged and committed it', () =>
    onSite(async (site, show) => {
      const names: [string, string, { name: string; email: string } | null][] = [
        ['2.0.0', 'Dan <dan@example.org>', { name: 'Dan', email: 'dan@example.org' }],
        // Git reads no further either.
        ['2.1.0', 'Zoë <x> <not an address>', { name: 'Zoë', email: 'x' }],
        ['2.2.0', 'Dan <>', { name: 'Dan', email: '' }],
        ['2.3.0', ' <dan@example.org>', { name: '', email: 'dan@example.org' }],
        ['2.4.0', ' <>', null],
      ];
      for (const [version, author] of names) site.draft(version, site.commit(MESSAGE, '', author));
      for (const [version, , author] of names)
        expect((await show(version)).author, version).to.deep.equal(author);
    }));

  itWith(['ssh-keygen'], 'and signature are told after a write as another process reads them', () =>
    onSite(async (site, show, { store, reopen }) => {
      site.makeKey();
      const expectSame = async () => {
        const other = await reopen();
        for (const { version } of (await store.versions(WEB)).versions)
          expect(await show(version), version).to.deep.equal(await readBy(other, version));
      };
      // A draft whose place in history changes when it is published.
      await addVersion(store, '1.2.0');
      await addVersion(store, '1.1.0');
      expect(await show('1.1.0')).to.deep.include({ author: ALICE, signature: null });
      await replace(store, '1.1.0', [file(ENTRY, 'other')]);
      expect(await show('1.1.0')).to.deep.include({ author: ALICE, signature: null });
      const edit = { path: ENTRY, content: Buffer.from('edited'), author: BOB, at: AT + 120_000 };
      const edited = await store.exclusive(WEB, (repository) => repository.editDraft('', '1.2.0', edit));
      expect(edited).to.deep.include({ author: BOB, createdBy: 'Alice', signature: null });
      site.draft('1.3.0', site.sign('commit-tree', '-S', '-m', MESSAGE, '-p', 'v1.0.0^{commit}', site.tree));
      expect(await show('1.3.0')).to.deep.include({ author: CAROL, signature: 'Ssh' });
      await expectSame();
      for (const version of ['1.1.0', '1.2.0', '1.3.0']) await publish(store, version);
      expect(await show('1.1.0')).to.deep.include({ author: ALICE, publishedBy: 'Bob', signature: null });
      expect(await show('1.2.0')).to.deep.include({ author: BOB, createdBy: 'Alice', signature: null });
      expect(await show('1.3.0')).to.deep.include({ author: CAROL, publishedBy: 'Bob', signature: 'Ssh' });
      await expectSame();
      // The signature of a commit that others made is not taken over by what replaces it.
      site.draft('1.4.0', site.sign('commit-tree', '-S', '-m', MESSAGE, '-p', 'v1.3.0^{commit}', site.tree));
      expect((await show('1.4.0')).signature).to.equal('Ssh');
      await replace(store, '1.4.0', [file(ENTRY, 'again')]);
      expect(await show('1.4.0')).to.deep.include({ author: CAROL, signature: null });
      await expectSame();
    }),
  );
});
