import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sha256Hex } from '../../../src/lib/hash.ts';
import {
  DEFAULT,
  filesOf,
  onParameters,
  PARAMETERS,
  PROD,
  portOf,
  publishFile,
  putSchema,
  release,
  TEST,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from './parameter-support.ts';
import { ALICE, AT, BOB, codeOf, runGit } from './support.ts';

describe('the parameters of a configuration', () => {
  it('are none, and no error, until the first is written', () =>
    onParameters(async ({ store, gitdir, moved }) => {
      expect(await filesOf(store, DEFAULT)).to.deep.equal([]);
      const index = await store.parameters.index(WEB_PARAMETERS);
      expect([index.series, index.of('schema').versions]).to.deep.equal([[], []]);
      expect(store.problems()).to.deep.equal([]);
      expect(existsSync(gitdir)).to.equal(false);
      await writeFile(store, DEFAULT, '1.0.0');
      expect(moved).to.deep.equal(['web']);
      expect(await filesOf(store, DEFAULT)).to.deep.equal(['1.0.0 Draft']);
      expect(await store.list('parameters')).to.deep.equal(['web']);
    }));

  it('tell who set what when, to stock git too, which finds them sound and clones them', () =>
    onParameters(async ({ store, git, gitdir, root }) => {
      await release(store, PROD, '1.0.0', 'a: 1\nb: 1\n');
      await release(store, TEST, '1.0.0', 'a: 9\n', { author: BOB });
      await release(store, PROD, '1.1.0', 'a: 1\nb: 2\n', { author: BOB, at: AT + 60_000 });
      expect(git('log', '--format=%s|%an|%cn|%cd', '--date=iso-strict', 'Environment')).to.equal(
        [
          'Environment/prod 1.1.0|Bob|Bob|2026-11-20T09:09:00+00:00',
          'Environment/test 1.0.0|Bob|Bob|2026-11-20T09:08:00+00:00',
          'Environment/prod 1.0.0|Alice|Bob|2026-11-20T09:08:00+00:00',
        ].join('\n'),
      );
      const blame = git('blame', '--line-porcelain', 'Environment', '--', 'prod/parameters.yaml');
      expect(blame.match(/^author .*/gm)).to.deep.equal(['author Alice', 'author Bob']);
      expect(git('ls-tree', '-r', '--name-only', 'Environment')).to.equal(
        'prod/parameters.yaml\ntest/parameters.yaml',
      );
      expect(git('for-each-ref', '--format=%(refname) %(objecttype) %(taggername)')).to.equal(
        [
          'refs/heads/Environment commit ',
          'refs/tags/Environment/prod/v1.0.0 tag Bob',
          'refs/tags/Environment/prod/v1.1.0 tag Bob',
          'refs/tags/Environment/test/v1.0.0 tag Bob',
        ].join('\n'),
      );
      expect(git('rev-parse', 'Environment/prod/v1.1.0^')).to.equal(
        git('rev-parse', 'Environment/prod/v1.0.0^{commit}'),
      );
      expect(git('log', '--format=%s', 'Environment/test/v1.0.0')).to.equal('web Environment/test 1.0.0');
      expect(git('symbolic-ref', 'HEAD')).to.equal('refs/heads/main');
      expect(git('fsck', '--strict', '--full')).to.not.match(/error|warning|dangling commit/);
      runGit(root, 'clone', '-q', '-b', 'Environment', `file://${gitdir}`, 'copy');
      expect(runGit(join(root, 'copy'), 'show', 'HEAD:prod/parameters.yaml')).to.equal('a: 1\nb: 2');
    }));

  it('are told of in details, to the millisecond, and give their bytes', () =>
    onParameters(async ({ store, reopen }) => {
      const draft = await writeFile(store, PROD, '1.0.0', '{"a": 1}', { type: 'json' });
      expect(draft).to.deep.include({ status: 'Draft', publishedAt: null });
      await store.exclusive(PARAMETERS, (p) => p.publish(PROD, '1.0.0', { tagger: BOB, at: AT + 1_234 }));
      for (const other of [store, await reopen()]) {
        const ref = (await other.parameters.index(WEB_PARAMETERS)).of(PROD).get('1.0.0') ?? expect.fail();
        const read = await other.parameters.details(WEB_PARAMETERS, ref);
        expect(read).to.deep.equal({
          version: '1.0.0',
          status: 'Published',
          isPassthrough: false,
          contentType: 'json',
          oid: draft.files[0]?.oid,
          size: 8,
          sha256: sha256Hex('{"a": 1}'),
          commit: ref.commit,
          createdAt: AT,
          createdBy: 'Alice',
          author: ALICE,
          signature: null,
          publishedAt: AT + 1_234,
          publishedBy: 'Bob',
          message: null,
          withdrawn: null,
          rollout: null,
        });
        expect(await textOf(other, PROD, '1.0.0')).to.equal('{"a": 1}');
      }
    }));

  it('keep maker and time of a draft that gets other content', () =>
    onParameters(async ({ store, git }) => {
      await release(store, PROD, '1.0.0');
      await writeFile(store, PROD, '1.1.0', portOf(1));
      const change = { author: BOB, at: AT + 60_000, type: 'json' as const };
      const details = await writeFile(store, PROD, '1.1.0', '{}', change);
      expect(details).to.include({ createdBy: 'Alice', createdAt: AT });
      const draft = 'draft/Environment/prod/1.1.0';
      expect(git('log', '-1', '--format=%an %cn', draft)).to.equal('Alice Bob');
      expect(git('ls-tree', '-r', '--name-only', draft)).to.equal('prod/parameters.json');
      expect(git('rev-parse', `${draft}^`)).to.equal(git('rev-parse', 'Environment/prod/v1.0.0^{commit}'));
      await publishFile(store, PROD, '1.1.0');
      expect(git('ls-tree', '-r', '--name-only', 'Environment')).to.equal('prod/parameters.json');
    }));

  it('may skip a scope on purpose: its file goes from the branch', () =>
    onParameters(async ({ store, git }) => {
      await release(store, DEFAULT, '1.0.0');
      await release(store, PROD, '1.0.0');
      await release(store, TEST, '1.0.0');
      await release(store, PROD, '2.0.0', null);
      await release(store, DEFAULT, '2.0.0', null);
      expect(git('ls-tree', '-r', '--name-only', 'Environment')).to.equal('test/parameters.yaml');
      expect(git('ls-tree', '-r', '--name-only', 'Default')).to.equal('');
      expect(git('log', '-1', '--format=%s', 'Environment')).to.equal('Environment/prod 2.0.0 (passthrough)');
      const tag = git('cat-file', 'tag', 'Environment/prod/v2.0.0');
      expect(tag).to.contain('\nPassthrough: true\n');
      expect(git('log', '-1', '--format=%B', 'Environment/prod/v2.0.0')).to.contain('Passthrough: true');
      const ref = (await store.parameters.index(WEB_PARAMETERS)).of(PROD).published[0] ?? expect.fail();
      expect(await store.parameters.details(WEB_PARAMETERS, ref)).to.deep.include({
        isPassthrough: true,
        contentType: null,
        oid: null,
        size: 0,
        sha256: sha256Hex(''),
      });
      expect(await store.parameters.content(WEB_PARAMETERS, ref)).to.equal(null);
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('stay as they are once published, and say so', () =>
    onParameters(async ({ store, git }) => {
      await release(store, PROD, '1.0.0');
      const refs = git('for-each-ref');
      expect(await codeOf(writeFile(store, PROD, '1.0.0'))).to.equal('version_exists');
      expect(await codeOf(writeFile(store, PROD, '1.0.0+b'))).to.equal('version_exists');
      expect(await codeOf(publishFile(store, PROD, '1.0.0'))).to.equal('already_published');
      const remove = (version: string) => store.exclusive(PARAMETERS, (p) => p.deleteDraft(PROD, version));
      expect(await codeOf(remove('1.0.0'))).to.equal('published_version');
      expect(await codeOf(remove('2.0.0'))).to.equal('not_found');
      expect(await codeOf(publishFile(store, TEST, '1.0.0'))).to.equal('not_found');
      expect(git('for-each-ref')).to.equal(refs);
      await writeFile(store, PROD, '2.0.0');
      await remove('2.0.0');
      expect(git('for-each-ref')).to.equal(refs);
      expect(await filesOf(store, PROD)).to.deep.equal(['1.0.0 Published']);
    }));

  it('go by precedence, each scope on its own, and a scope is the same list until it changes', () =>
    onParameters(async ({ store }) => {
      for (const version of ['1.9.0', '1.10.0', '2.0.0-rc.1']) await release(store, PROD, version);
      await writeFile(store, PROD, 'summer');
      expect(await filesOf(store, PROD)).to.deep.equal([
        '2.0.0-rc.1 Published',
        '1.10.0 Published',
        '1.9.0 Published',
        'summer Draft',
      ]);
      const now = () => store.parameters.index(WEB_PARAMETERS);
      const before = await now();
      const { versions: prod, published } = before.of(PROD);
      await release(store, TEST, '1.0.0');
      const after = await now();
      expect(after.of(PROD).versions).to.equal(prod);
      expect(after.of(PROD).published).to.equal(published);
      expect(after.of(TEST).versions).to.have.length(1);
      await writeFile(store, PROD, '3.0.0');
      expect((await now()).of(PROD).versions).to.not.equal(prod);
      expect((await now()).series).to.have.members([PROD, TEST]);
      // Who has a list goes on with it.
      expect([before.of(PROD).versions, before.of(TEST).versions]).to.deep.equal([prod, []]);
    }));

  const refused: [string, string, string][] = [
    ['a type that would be taken for drafts', 'draft/x', '1.0.0'],
    ['a type that would be taken for schemas', 'schema/x', '1.0.0'],
    ['a type with a slash', 'a/b/x', '1.0.0'],
    ['a value that climbs', 'Environment/..', '1.0.0'],
    ['a value that ends as a lock', 'Node/web.lock', '1.0.0'],
    ['a value with a trailing dot', 'Node/web.example.org.', '1.0.0'],
    ['a value with two dots', 'Node/web..org', '1.0.0'],
    ['an empty value', 'Environment/', '1.0.0'],
    ['a value that is a folder', 'Environment/a/b', '1.0.0'],
    ['a value with a line end', 'Environment/prod\n', '1.0.0'],
    ['Default with a value', 'Default/x', '1.0.0'],
    ['another type without one', 'Environment', '1.0.0'],
    ['a version that climbs', PROD, '../1.0.0'],
    ['a version that ends as a lock', PROD, '1.lock'],
  ];
  for (const [what, scope, version] of refused) {
    it(`refuse ${what}, and make no repository for it`, () =>
      onParameters(async ({ store }) => {
        expect(await codeOf(writeFile(store, scope, version))).to.equal('validation_failed');
        expect(await store.list('parameters')).to.deep.equal([]);
      }));
  }

  for (const name of ['web-1.example.org', 'win_app_1.example.org', '_a._b'])
    it(`take host names such as ${name} as values`, () =>
      onParameters(async ({ store, git, reopen }) => {
        const node = `Node/${name}`;
        await release(store, node, '1.0.0', portOf(1));
        expect(await textOf(await reopen(), node, '1.0.0')).to.equal(portOf(1));
        expect(git('show', `Node:${name}/parameters.yaml`)).to.equal(portOf(1).trim());
      }));

  it('keep uploaded schemas, a later one in place of an earlier of the same version', () =>
    onParameters(async ({ store, git, reopen }) => {
      await putSchema(store, '1.0.0', 'parameters: {}');
      await putSchema(store, '2.0.0', 'parameters: {a: 1}');
      const details = await putSchema(store, '1.0.0', '{"parameters": {}}', { type: 'json', at: AT + 5 });
      expect(details).to.include({ publishedBy: 'Alice', createdAt: AT + 5 });
      for (const other of [store, await reopen()]) {
        const schemas = (await other.parameters.index(WEB_PARAMETERS)).of('schema').versions;
        expect(schemas.map(({ version }) => version)).to.deep.equal(['2.0.0', '1.0.0']);
        const [, old] = schemas;
        const content = await other.parameters.content(WEB_PARAMETERS, old ?? expect.fail());
        expect(content?.toString()).to.equal('{"parameters": {}}');
      }
      expect(git('ls-tree', '--name-only', 'schema/v1.0.0')).to.equal('schema.json');
      expect(git('fsck', '--strict')).to.not.contain('error');
    }));

  it('go with their configuration, and the next of its name begins without any', () =>
    onParameters(async ({ store, root, moved }) => {
      await release(store, PROD, '1.0.0');
      moved.length = 0;
      await store.remove({ kind: 'parameters', name: 'web' });
      expect(moved).to.deep.equal(['web']);
      expect(await filesOf(store, PROD)).to.deep.equal([]);
      expect(await store.list('parameters')).to.deep.equal([]);
      await writeFile(store, PROD, '0.1.0');
      expect(await filesOf(store, PROD)).to.deep.equal(['0.1.0 Draft']);
      expect(runGit(join(root, 'parameters/web.git'), 'fsck', '--strict')).to.not.contain('error');
      await store.remove({ kind: 'parameters', name: 'never-there' });
    }));

  it('refuse the work of one who gave the lock back', () =>
    onParameters(async ({ store }) => {
      const late = await store.exclusive(PARAMETERS, async (parameters) => parameters);
      expect(await codeOf(late.publish(PROD, '1.0.0', { tagger: BOB, at: AT }))).to.equal('lock_returned');
    }));
});
