// full: SQLite
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitStore } from '../../../src/versions/store.ts';
import { CountingFs } from './counting-fs.ts';
import {
  AT,
  addVersion,
  BOB,
  codeOf,
  listeningLog,
  makePublishedWeb,
  onStore,
  pipeGit,
  publish,
  WEB,
} from './support.ts';

const withdraw = (store: GitStore, version: string) =>
  store.exclusive(WEB, (repository) =>
    repository.withdraw('', version, { tagger: BOB, at: AT, reason: 'bad' }),
  );

/** The names of the withdrawn versions in the history of a commit. */
async function namesIn(store: GitStore, commit: string): Promise<string[]> {
  const found = await store.withdrawnIn(WEB, await store.versions(WEB), commit);
  return found.map(({ version }) => version);
}

async function release(store: GitStore, ...versions: string[]): Promise<void> {
  await makePublishedWeb(store);
  for (const version of versions) {
    await addVersion(store, version);
    await publish(store, version);
  }
}

describe('the withdrawn versions in a history', () => {
  it('are those that the commit is or comes from, by any parent, highest first', async () => {
    await onStore(async ({ store, gitdir }) => {
      await release(store, '1.1.0', '1.2.0', '1.3.0');
      const git = (...args: string[]) => pipeGit(gitdir, '', ...args);
      const on = (...parents: string[]) =>
        git('commit-tree', 'v1.0.0^{tree}', '-m', 'x', ...parents.flatMap((parent) => ['-p', parent]));
      const beside = on('v1.0.0^{commit}');
      const merge = on(beside, on(beside), 'v1.2.0^{commit}');
      expect(await namesIn(store, merge)).to.deep.equal([]);
      for (const version of ['1.1.0', '1.3.0', '1.2.0']) await withdraw(store, version);
      expect(await namesIn(store, merge)).to.deep.equal(['1.2.0', '1.1.0']);
      expect(await namesIn(store, git('rev-parse', 'v1.1.0^{commit}'))).to.deep.equal(['1.1.0']);
      expect(await namesIn(store, beside)).to.deep.equal([]);
      await store.exclusive(WEB, (repository) => repository.offerAgain('', '1.1.0'));
      expect(await namesIn(store, merge)).to.deep.equal(['1.2.0']);
    });
  });

  it('end where history does', async () => {
    await onStore(async ({ store, gitdir }) => {
      await release(store, '1.1.0', '1.2.0');
      const tip = pipeGit(gitdir, '', 'rev-parse', 'v1.2.0^{commit}');
      await withdraw(store, '1.1.0');
      expect(await namesIn(store, tip)).to.deep.equal(['1.1.0']);
      writeFileSync(join(gitdir, 'shallow'), `${tip}\n`);
      expect(await namesIn(store, tip)).to.deep.equal([]);
    });
  });

  it('are looked for only where a version is withdrawn, and each commit is read once', async () => {
    const fs = new CountingFs();
    await onStore(
      async ({ store, gitdir }) => {
        await release(store, '1.1.0', '1.2.0', '1.3.0');
        const tip = pipeGit(gitdir, '', 'rev-parse', 'v1.3.0^{commit}');
        const readsOf = async (commit: string) => {
          const before = fs.reads;
          await namesIn(store, commit);
          return fs.reads - before;
        };
        expect(await readsOf(tip)).to.equal(0);
        await withdraw(store, '1.2.0');
        const first = await readsOf(tip);
        expect(first).to.be.greaterThan(0);
        expect(await readsOf(tip)).to.be.below(first);
      },
      { fs },
      false,
    );
  });

  it('are unknown where a commit cannot be read, which is said', async () => {
    await onStore(async ({ store, gitdir }) => {
      await release(store, '1.1.0');
      await withdraw(store, '1.1.0');
      const tree = pipeGit(gitdir, '', 'rev-parse', 'v1.0.0^{tree}');
      const person = 'Carol <carol@example.org> 1700000000 +0000';
      const text = `tree ${tree}\nparent ${'1'.repeat(40)}\nauthor ${person}\ncommitter ${person}\n\nx\n`;
      const broken = pipeGit(gitdir, text, 'hash-object', '-w', '-t', 'commit', '--stdin');
      expect(await codeOf(namesIn(store, broken))).to.equal('repository_damaged');
      expect(await codeOf(namesIn(store, tree))).to.equal('repository_damaged');
    });
  });

  it('are found among the nearest ten thousand commits, and the log tells that there are more', async () => {
    const { log, lines } = listeningLog();
    await onStore(
      async ({ store, gitdir }) => {
        await release(store, '1.1.0');
        const commits = Array.from(
          { length: 10_001 },
          (_, at) =>
            `commit refs/heads/long\ncommitter C <c@example.org> ${1_700_000_000 + at} +0000\ndata 1\nx\n`,
        );
        const [first, ...others] = commits;
        pipeGit(gitdir, `${first}from refs/tags/v1.0.0^0\n${others.join('')}`, 'fast-import', '--quiet');
        await withdraw(store, '1.0.0');
        const tip = pipeGit(gitdir, '', 'rev-parse', 'long');
        expect(await namesIn(store, tip)).to.deep.equal([]);
        expect(lines.map(({ msg, looked }) => [msg, looked])).to.deep.equal([
          ['a history is too long to look for withdrawn versions', 10_000],
        ]);
        expect(await namesIn(store, pipeGit(gitdir, '', 'rev-parse', 'long~1'))).to.deep.equal(['1.0.0']);
        expect(lines).to.have.length(1);
      },
      { log },
    );
  });
});
