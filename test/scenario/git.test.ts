// full: SQLite
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  release,
  versionsOf,
} from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { git, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const WEB = 'configurations/web.git';
const CAROL = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];

/** An author who works with stock git on the server's own repositories. */
describe('stock git agrees', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    const ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    const one = { files: { [MAIN]: 'line 1\nline 2\n', 'modules/iis.yaml': 'iis\n' } };
    await ok(201, create(ada.client, 'web', { description: 'The web servers' }, one));
    await ok(200, publish(ada.client, 'web', '1.0.0'));
    const bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    await grant(hawser, bob, 'web', 'Modify');
    const two = { files: { [MAIN]: 'line 1\nline two\n', 'modules/iis.yaml': 'iis\n' } };
    await ok(201, addVersion(bob.client, 'web', { version: '1.1.0' }, two));
    await ok(200, publish(ada.client, 'web', '1.1.0'));
    await ok(201, addVersion(ada.client, 'web', { version: '2.0.0-beta.1' }, two));
    node = await hawser.registerNode('git.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: 'web' }));
  });

  const web = (...args: string[]) => hawser.git(WEB, ...args).trim();
  const versions = async (): Promise<string[]> =>
    (await ok(200, hawser.admin.get(versionsOf('web')))).map((it: { version: string }) => it.version);
  const checksum = async () =>
    (await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`)).json;

  const fsck = () => {
    const repository = hawser.folderOf(WEB);
    const args = ['-C', repository, 'fsck', '--strict', '--no-progress', '--no-dangling'];
    const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
    expect(stdout + stderr).to.equal('');
    expect(status).to.equal(0);
  };

  it('that the repository is sound and says what it is', () => {
    fsck();
    expect(web('cat-file', '-t', 'v1.0.0')).to.equal('tag');
    expect(web('rev-parse', '--is-bare-repository')).to.equal('true');
    expect(web('symbolic-ref', 'HEAD')).to.equal('refs/heads/main');
    const refs = ['refs/heads/draft/2.0.0-beta.1', 'refs/heads/main', 'refs/tags/v1.0.0', 'refs/tags/v1.1.0'];
    expect(web('for-each-ref', '--format=%(refname)').split('\n')).to.deep.equal(refs);
    expect(web('ls-tree', '-r', '--name-only', 'v1.0.0').split('\n')).to.deep.equal([
      MAIN,
      'modules/iis.yaml',
    ]);
    expect(web('for-each-ref', '--format=%(taggername) %(taggeremail)', 'refs/tags/v1.1.0')).to.equal(
      'ada <ada@example.org>',
    );
  });

  it('on what changed between versions, and who changed it', () => {
    const diff = web('diff', 'v1.0.0', 'v1.1.0');
    expect(diff).to.include('-line 2').and.include('+line two');
    expect(web('log', '--format=%an', 'v1.1.0').split('\n')).to.deep.equal(['bob', 'ada']);
    const blame = web('blame', '--line-porcelain', 'v1.1.0', '--', MAIN);
    expect(blame.match(/^author .*$/gm)).to.deep.equal(['author ada', 'author bob']);
    expect(web('describe', 'v1.1.0')).to.equal('v1.1.0');
    expect(web('rev-parse', 'v1.1.0^')).to.equal(web('rev-parse', 'v1.0.0^{commit}'));
    expect(web('rev-parse', 'draft/2.0.0-beta.1^')).to.equal(web('rev-parse', 'v1.1.0^{commit}'));
    expect(web('rev-list', '--count', 'v1.0.0')).to.equal('1');
    expect(web('shortlog', '-sn', 'main')).to.match(/ada[\s\S]*bob|bob[\s\S]*ada/);
  });

  it('in a clone, with the draft as a branch', () => {
    const folder = mkdtempSync(join(hawser.folder, 'clone-'));
    git(folder, 'clone', '--quiet', '-c', 'transfer.fsckObjects=true', hawser.folderOf(WEB), 'web');
    expect(git(join(folder, 'web'), 'branch', '--show-current').trim()).to.equal('main');
    expect(git(join(folder, 'web'), 'branch', '-r')).to.include('origin/draft/2.0.0-beta.1');
    expect(git(join(folder, 'web'), 'tag').trim().split('\n')).to.deep.equal(['v1.0.0', 'v1.1.0']);
    rmSync(folder, { recursive: true });
  });

  it('with every commit that the server names, after a later publish below others too', async () => {
    await release(hawser.admin, 'web', '1.0.1', { files: { [MAIN]: 'patch\n' } });
    expect(web('rev-parse', 'v1.0.1^')).to.equal(web('rev-parse', 'v1.0.0^{commit}'));
    for (const { version, commit, status } of await ok(200, hawser.admin.get(versionsOf('web')))) {
      const ref = status === 'Draft' ? `draft/${version}` : `v${version}^{commit}`;
      expect(web('rev-parse', ref), version).to.equal(commit);
    }
    fsck();
  });

  itOnSqlite('before and after it packs, repacks and collects garbage under the running server', async () => {
    const answers = async () => {
      const pull = (what: string) => node.client.get(`/api/v1/nodes/${node.nodeId}/configuration${what}`);
      const replies = [
        await hawser.admin.get(versionsOf('web')),
        await hawser.admin.get(`${CONFIGURATIONS}/web`),
        await hawser.admin.get(fileOf('web', '1.0.0', MAIN)),
        await hawser.admin.get(fileOf('web', '2.0.0-beta.1', 'modules/iis.yaml')),
        await pull('/checksum'),
        await pull('/bundle'),
      ];
      return replies.map(({ status, bytes, headers }) => [status, bytes.toString('base64'), headers['etag']]);
    };
    const before = await answers();
    expect(before.map(([status]) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    const chores = [
      ['pack-refs', '--all'],
      ['repack', '-adq'],
      ['gc', '--prune=now', '--aggressive', '--quiet'],
    ];
    for (const [at, chore] of chores.entries()) {
      web(...chore);
      expect(await answers(), chore.join(' ')).to.deep.equal(before);
      const version = `0.${at}.1`;
      await ok(201, addVersion(hawser.admin, 'web', { version, entryPoint: MAIN }));
      await ok(200, publish(hawser.admin, 'web', version));
      await expectProblem(publish(hawser.admin, 'web', version), 409, 'already_published');
      fsck();
      // So that the next round compares with the same list.
      web('update-ref', '-d', `refs/tags/v${version}`);
      await eventually(async () => expect(await versions()).to.not.include(version));
      before[1] = (await answers())[1] ?? [];
    }
    await hawser.restart();
    node = { ...node, client: hawser.client(node.identity) };
    expect(await answers()).to.deep.equal(before);
    await ok(200, publish(hawser.admin, 'web', '2.0.0-beta.1'));
    fsck();
  });

  itOnSqlite('that a lightweight tag is no version, and an annotated one is', async () => {
    const before = await versions();
    const { checksum: known } = await checksum();
    web('tag', 'v9.0.0', 'main');
    web('tag', 'release-9', 'main');
    web(...CAROL, 'tag', '-a', '-m', 'Not a version', 'vNext', 'main');
    web(...CAROL, 'tag', '-a', '-m', 'By hand', 'v1.2.0', commitOf('by hand\n'));
    await eventually(async () => expect(await versions()).to.include('1.2.0'));
    expect(await versions()).to.have.members(['1.2.0', ...before]);
    const [version] = (await ok(200, hawser.admin.get(versionsOf('web')))).filter(
      (it: { version: string }) => it.version === '1.2.0',
    );
    expect(version).to.include({
      status: 'Published',
      createdBy: 'Dan',
      publishedBy: 'Carol',
      message: 'By hand',
      entryPoint: MAIN,
    });
    expect(version.commit).to.equal(web('rev-parse', 'v1.2.0^{commit}'));
    await eventually(async () => expect((await checksum()).version).to.equal('1.2.0'));
    expect((await checksum()).checksum).to.not.equal(known);
    await eventually(async () => expect(web('rev-parse', 'main')).to.equal(version.commit));
    expect((await hawser.admin.get(fileOf('web', '1.2.0', MAIN))).text).to.equal('by hand\n');
    await expectProblem(addVersion(hawser.admin, 'web', { version: '1.2.0' }), 409, 'version_exists');
    await expectProblem(publish(hawser.admin, 'web', '1.2.0'), 409, 'already_published');
  });

  itOnSqlite('that a branch made by hand is a draft, which the server publishes', async () => {
    const commit = commitOf('drafted by hand\n');
    web('update-ref', 'refs/heads/draft/1.3.0', commit);
    await eventually(async () => expect(await versions()).to.include('1.3.0'));
    const published = await ok(200, publish(hawser.admin, 'web', '1.3.0'));
    expect(published).to.include({ createdBy: 'Dan', publishedBy: 'admin', commit });
    expect(web('for-each-ref', 'refs/heads/draft/1.3.0')).to.equal('');
    expect(web('rev-parse', 'main')).to.equal(commit);
    fsck();
  });

  itOnSqlite('that a tag taken away is a version less, for nodes too', async () => {
    web('tag', '-d', 'v1.3.0');
    await eventually(async () => expect((await checksum()).version).to.equal('1.2.0'));
    expect(await versions()).to.not.include('1.3.0');
    await expectProblem(hawser.admin.get(fileOf('web', '1.3.0', MAIN)), 404, 'not_found');
  });

  /** A commit by Dan on top of main whose only file has this content. */
  function commitOf(content: string): string {
    writeFileSync(join(hawser.folder, 'content'), content);
    const blob = web('hash-object', '-w', join(hawser.folder, 'content'));
    const index = join(hawser.folder, 'index');
    rmSync(index, { force: true });
    const env = { ...process.env, GIT_INDEX_FILE: index };
    const run = (...args: string[]) =>
      spawnSync('git', ['-C', hawser.folderOf(WEB), ...args], { env, encoding: 'utf8' }).stdout.trim();
    run('update-index', '--add', '--cacheinfo', `100644,${blob},${MAIN}`);
    const dan = ['-c', 'user.name=Dan', '-c', 'user.email=dan@example.org'];
    return run(...dan, 'commit-tree', run('write-tree'), '-p', 'main', '-m', 'By hand');
  }
});
