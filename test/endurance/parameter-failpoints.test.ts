import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitStore } from '../../src/versions/store.ts';
import { breakEverywhere } from '../unit/git/breaking.ts';
import {
  DEFAULT,
  filesOf,
  PARAMETERS,
  PROD,
  portOf,
  publishFile,
  putSchema,
  release,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from '../unit/git/parameter-support.ts';
import { runGit } from '../unit/git/support.ts';

describe('the parameters when the disk fails', () => {
  it('have a published version or a draft, wherever the publishing broke off, and one commit for it', async () => {
    const seen = new Set<string>();
    const breaks = await breakEverywhere(
      async (store) => {
        await release(store, PROD, '1.0.0', portOf(1));
        await writeFile(store, PROD, '1.1.0', portOf(2));
      },
      (store) => publishFile(store, PROD, '1.1.0'),
      async (store, gitdir) => {
        const [state] = await filesOf(store, PROD);
        seen.add(state ?? '');
        if (state === '1.1.0 Draft') await publishFile(store, PROD, '1.1.0');
        expect(await filesOf(store, PROD)).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
        expect(runGit(gitdir, 'log', '--format=%s', 'Environment')).to.equal(
          'Environment/prod 1.1.0\nEnvironment/prod 1.0.0',
        );
        expect(runGit(gitdir, 'show', 'Environment:prod/parameters.yaml')).to.equal(portOf(2).trim());
        expect(runGit(gitdir, 'for-each-ref', '--format=%(refname)', 'refs/heads')).to.equal(
          'refs/heads/Environment',
        );
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        await store.exclusive(PARAMETERS, async () => undefined);
        runGit(gitdir, 'pack-refs', '--all');
      },
      'parameters',
    );
    expect(breaks).to.be.greaterThan(20);
    expect([...seen]).to.have.members(['1.1.0 Draft', '1.1.0 Published']);
  }).timeout(240_000);

  it('have a first draft or nothing, wherever the writing broke off', async () => {
    const seen = new Set<string>();
    await breakEverywhere(
      async () => undefined,
      (store) => writeFile(store, PROD, '1.0.0'),
      async (store, gitdir) => {
        const files = await filesOf(store, PROD);
        seen.add(files.join());
        await writeFile(store, PROD, '1.0.0', portOf(7));
        expect(await textOf(store, PROD, '1.0.0')).to.equal(portOf(7));
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
      },
      'parameters',
    );
    expect([...seen]).to.have.members(['', '1.0.0 Draft']);
  });

  it('have the old schema or the new, wherever the upload broke off', async () => {
    const put = (store: GitStore, text: string) => putSchema(store, '1.0.0', text);
    const seen = new Set<string>();
    await breakEverywhere(
      async (store) => void (await put(store, 'old')),
      (store) => put(store, 'new'),
      async (store) => {
        const [schema] = (await store.parameters.index(WEB_PARAMETERS)).of('schema').versions;
        const content = await store.parameters.content(WEB_PARAMETERS, schema ?? expect.fail());
        seen.add(content?.toString() ?? '');
      },
      'parameters',
    );
    expect([...seen]).to.have.members(['old', 'new']);
  });

  it('leave no folder behind where the last of several drafts goes', async () => {
    await breakEverywhere(
      async (store) => {
        await release(store, DEFAULT, '1.0.0');
        await writeFile(store, PROD, '1.0.0');
      },
      (store) => store.exclusive(PARAMETERS, (p) => p.deleteDraft(PROD, '1.0.0')),
      async (store, gitdir) => {
        const files = await filesOf(store, PROD);
        if (files.length > 0) {
          expect(files).to.deep.equal(['1.0.0 Draft']);
          await store.exclusive(PARAMETERS, (p) => p.deleteDraft(PROD, '1.0.0'));
          expect(await readdir(join(gitdir, 'refs/heads/draft'))).to.deep.equal([]);
        }
        expect(await filesOf(store, PROD)).to.deep.equal([]);
        expect(await filesOf(store, DEFAULT)).to.deep.equal(['1.0.0 Published']);
      },
      'parameters',
    );
  });
});
