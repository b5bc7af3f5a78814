import { chmodSync, readFileSync, truncateSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addVersion,
  codeOf,
  listeningLog,
  makePublishedWeb,
  makeWeb,
  onStore,
  summary,
  until,
  WEB,
} from './support.ts';

describe('a damaged repository', () => {
  it('is named once an object cannot be read, and no more when it can', async () => {
    const { log, lines } = listeningLog();
    await onStore(
      async ({ store, git, gitdir, reopen }) => {
        await makePublishedWeb(store);
        await addVersion(store, '1.1.0');
        const other = await reopen();
        const ref = (await other.versions(WEB)).get('1.0.0') ?? expect.fail();
        const [tree, blob] = [git('rev-parse', 'v1.0.0^{tree}'), git('rev-parse', 'v1.0.0:main.dsc.yaml')];
        const pathOf = (oid: string) => join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
        for (const oid of [tree, blob]) await rename(pathOf(oid), `${pathOf(oid)}.away`);
        expect(other.problems()).to.deep.equal([]);
        for (let time = 0; time < 2; time += 1) {
          expect(await codeOf(other.details(WEB, ref))).to.equal('repository_damaged');
          expect(await codeOf(other.blob(WEB, blob))).to.equal('repository_damaged');
        }
        const reason = 'repository_damaged';
        expect(other.problems()).to.deep.equal([
          { repository: WEB, ref: 'refs/tags/v1.0.0', reason },
          { repository: WEB, ref: `blob ${blob}`, reason },
        ]);
        expect(lines.filter(({ level }) => level === 'error')).to.have.length(2);
        expect(await summary(other)).to.deep.equal(['1.1.0 Draft', '1.0.0 Published']);
        await addVersion(other, '1.2.0');
        expect(other.problems()).to.have.length(2);
        for (const oid of [tree, blob]) await rename(`${pathOf(oid)}.away`, pathOf(oid));
        await other.details(WEB, ref);
        expect(other.problems()).to.deep.equal([]);
        expect((await other.versions(WEB)).published).to.have.length(1);
      },
      { log },
    );
  });

  it('is mended by itself within seconds, though nobody asks', () =>
    onStore(async ({ store, git, gitdir }) => {
      await makeWeb(store);
      const blob = git('rev-parse', 'draft/1.0.0:main.dsc.yaml');
      const path = join(gitdir, 'objects', blob.slice(0, 2), blob.slice(2));
      await rename(path, `${path}.away`);
      expect(await codeOf(store.blob(WEB, blob))).to.equal('repository_damaged');
      await rename(`${path}.away`, path);
      expect(store.problems()).to.have.length(1);
      await until(() => store.problems().length === 0);
    }));

  it('keeps listing a tag never read before, named by SemVer, until it can be read and judged', () =>
    onStore(async ({ store, git, gitdir, reopen }) => {
      await makeWeb(store);
      git('tag', '-a', 'v2.0.0', '-m', 'x', git('commit-tree', git('mktree'), '-m', 'no files'));
      const oid = git('rev-parse', 'v2.0.0');
      const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
      // At once, as the store that is open looks at new refs by itself.
      const whole = readFileSync(path);
      chmodSync(path, 0o644);
      truncateSync(path, 5);
      const other = await reopen();
      expect(await summary(other)).to.deep.equal(['2.0.0 Published', '1.0.0 Draft']);
      const damaged = { repository: WEB, ref: 'refs/tags/v2.0.0', reason: 'repository_damaged' };
      expect(other.problems()).to.deep.include(damaged);
      const ref = (await other.versions(WEB)).get('2.0.0') ?? expect.fail();
      expect(await codeOf(other.details(WEB, ref))).to.equal('repository_damaged');
      await writeFile(path, whole);
      expect(await codeOf(other.details(WEB, ref))).to.equal('not_found');
      expect(await summary(other)).to.deep.equal(['1.0.0 Draft']);
      const reasons = other.problems().map(({ reason }) => reason);
      expect(reasons).to.deep.equal(['There is no file at "main.dsc.yaml"']);
    }));

  it('without its folder is named once somebody asked for it, and not when we removed it', () =>
    onStore(async ({ store, gitdir }) => {
      await makeWeb(store);
      await rm(gitdir, { recursive: true });
      await until(async () => (await codeOf(store.versions(WEB))) !== 'no error');
      expect(store.problems()).to.deep.equal([{ repository: WEB, ref: '', reason: 'repository_missing' }]);
      await makeWeb(store);
      await store.versions(WEB);
      expect(store.problems()).to.deep.equal([]);
      await store.remove(WEB);
      expect(await codeOf(store.versions(WEB))).to.equal('repository_missing');
      expect(store.problems()).to.deep.equal([]);
    }));
});
