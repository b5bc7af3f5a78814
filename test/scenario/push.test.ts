// full: SQLite, PostgreSQL
/** Stock git clients push drafts and versions. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import { publishWithChildren } from '../support/composites.ts';
import { itOnSqlite } from '../support/engine.ts';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { assign } from '../support/parameter-files.ts';
import { beginAuthor, cloneOf, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { started } from '../support/started.ts';

const TWO = { 'main.dsc.yaml': '$schema: x\nresources: []\n# two\n', 'modules/a.yaml': 'a\n' };

describe('git push', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });
  afterEach(() => expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]));

  const begin = () => beginAuthor(hawser, client, token);
  const version = async ({ api }: PushAuthor, name: string) =>
    (await hawser.admin.get(`${api}/versions/${name}`)).json;
  const pushed = async (author: PushAuthor, ...args: string[]) => {
    const { code, output } = await author.push(...args);
    expect(code, output).to.equal(0);
    return output;
  };

  it('makes a draft of a branch, which the API shows and can publish', async () => {
    const author = await begin();
    const commit = await author.commit(TWO, 'Two\n\nWhy it is so.');
    const output = await pushed(author, `HEAD:${DRAFT}/1.1.0`);
    expect(output).to.include('remote: hawser: draft/1.1.0 is there');
    const draft = await version(author, '1.1.0');
    expect(draft).to.include({ version: '1.1.0', status: 'Draft', createdBy: 'admin', commit });
    expect(draft.author).to.deep.equal({ name: 'Ada', email: 'ada@example.org' });
    expect(draft.signature).to.equal(null);
    expect(draft.message).to.equal('Two\n\nWhy it is so.');
    expect((await hawser.admin.put(`${author.api}/versions/1.1.0/publish`)).status).to.equal(200);
    // The commit that was reviewed is the one that is published.
    expect((await version(author, '1.1.0')).commit).to.equal(commit);
  });

  it('takes a file of many mebibytes, which every clone has again, also when it is pushed once more', async () => {
    const author = await begin();
    const large = randomBytes(12 * 2 ** 20);
    const commit = await author.commit({ ...TWO, 'large.bin': large });
    for (const name of ['1.1.0', '1.2.0']) {
      await pushed(author, `HEAD:${DRAFT}/${name}`);
      const other = await cloneOf(client, author.name, token, '--branch', `draft/${name}`);
      expect(readFileSync(join(other.folder, 'large.bin')).equals(large), name).to.equal(true);
      expect((await version(author, name)).commit).to.equal(commit);
      expect((await hawser.admin.delete(`${author.api}/versions/${name}`)).status).to.equal(204);
    }
  });

  it('replaces a draft, fast-forward or forced, and says so in the audit trail', async () => {
    const author = await begin();
    const commits: string[] = [];
    const told = await auditedDuring(hawser, async () => {
      commits.push(await author.commit(TWO));
      await pushed(author, `HEAD:${DRAFT}/1.1.0`);
      commits.push(await author.commit({ 'main.dsc.yaml': '$schema: x\nresources: []\n# three\n' }));
      await pushed(author, `HEAD:${DRAFT}/1.1.0`);
      await author.ok('reset', '-q', '--hard', 'v1.0.0');
      commits.push(await author.commit({ 'b.yaml': 'b' }));
      await pushed(author, `+HEAD:${DRAFT}/1.1.0`);
    });
    expect((await version(author, '1.1.0')).commit).to.equal(commits[2]);
    const [made, replaced] = ['configuration.version_created', 'configuration.version_replaced'];
    expect(told.map(({ action }) => action)).to.deep.equal([made, replaced, replaced]);
    const [first, second, third] = commits;
    const changes = [first, { from: first, to: second }, { from: second, to: third }];
    for (const [at, { details }] of told.entries())
      expect(details).to.deep.include({ via: 'push', version: '1.1.0', commit: changes[at] });
  });

  it('deletes a draft', async () => {
    const author = await begin();
    await author.commit(TWO);
    await pushed(author, `HEAD:${DRAFT}/1.1.0`);
    const told = await auditedDuring(hawser, () => pushed(author, '--delete', 'draft/1.1.0'));
    expect((await hawser.admin.get(`${author.api}/versions/1.1.0`)).status).to.equal(404);
    expect(told.map(({ action, details }) => [action, details?.['via']])).to.deep.equal([
      ['configuration.version_deleted', 'push'],
    ]);
  });

  it('publishes by an annotated tag, and nodes get it at their next poll', async () => {
    const author = await begin();
    const node = await hawser.registerNode('web-01.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await hawser.admin.put(path, { configurationName: author.name });
    const commit = await author.commit(TWO);
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'The second');
    const output = await pushed(author, 'v1.1.0');
    expect(output).to.include('remote: hawser: 1.1.0 is published; 1 node is offered it.');
    expect((await node.client.get(`${path}/checksum`)).json.version).to.equal('1.1.0');
    const made = await version(author, '1.1.0');
    const expected = { status: 'Published', createdBy: 'admin', publishedBy: 'admin', commit };
    expect(made).to.include(expected);
    expect(made.message).to.equal('The second');
    // The branch main has followed.
    await author.ok('pull', '-q', 'origin', 'main');
    expect((await author.ok('rev-parse', 'origin/main')).trim()).to.equal(commit);
  });

  it('says by which way nodes are offered what was pushed', async () => {
    const author = await begin();
    const farm = `${author.name}-farm`;
    await publishWithChildren(hawser.admin, farm, '1.0.0', [author.name]);
    await assign(hawser, await hawser.registerNode('one.example.org'), author.name);
    for (const name of ['two.example.org', 'three.example.org'])
      await assign(hawser, await hawser.registerNode(name), farm, { isComposite: true });
    await author.commit(TWO);
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'x');
    expect(await pushed(author, 'v1.1.0')).to.include(
      '1.1.0 is published; 3 nodes are offered it (1 directly, 2 by composites, 0 pinned).',
    );
  });

  it('makes the tag alone of a draft and its tag in one push', async () => {
    const author = await begin();
    await author.commit(TWO);
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'x');
    await pushed(author, `HEAD:${DRAFT}/1.1.0`, 'v1.1.0');
    const refs = await author.ok('ls-remote', 'origin');
    expect(refs).to.include('refs/tags/v1.1.0').and.not.include('draft/1.1.0');
    expect(refs).to.not.include('refs/pushed');
  });

  it('publishes a draft in the name of who pushes, with an entry point', async () => {
    const author = await begin();
    await author.ok('mv', 'main.dsc.yaml', 'other.yaml');
    const commit = await author.commit({});
    const options = ['-o', 'publish', '-o', 'entry-point=other.yaml'];
    const output = await pushed(author, ...options, `HEAD:${DRAFT}/1.1.0`);
    expect(output).to.include('1.1.0 is published; 0 nodes are offered it.');
    const made = await version(author, '1.1.0');
    expect(made).to.include({ status: 'Published', publishedBy: 'admin', entryPoint: 'other.yaml', commit });
    const refs = await author.ok('ls-remote', 'origin');
    expect(refs).to.include('refs/tags/v1.1.0').and.not.include('draft/1.1.0');
    expect(output).to.match(/\[new (?:tag|reference)\] +HEAD -> v1\.1\.0/);
  });

  it('takes the entry point from a trailer of the commit', async () => {
    const author = await begin();
    await author.ok('mv', 'main.dsc.yaml', 'other.yaml');
    await author.commit({}, 'Moved\n\nEntry-Point: other.yaml');
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'x');
    await pushed(author, 'v1.1.0');
    expect(await version(author, '1.1.0')).to.include({ entryPoint: 'other.yaml', status: 'Published' });
  });

  it('takes merges, several commits, unrelated history, and a version that is no SemVer where that is off', async () => {
    const author = await begin();
    await author.ok('checkout', '-q', '-b', 'side');
    await author.commit({ 'side.yaml': 's' });
    await author.ok('checkout', '-q', 'main');
    await author.commit({ 'ours.yaml': 'o' });
    await author.ok('merge', '-q', '--no-ff', '-m', 'merged', 'side');
    await pushed(author, `HEAD:${DRAFT}/1.1.0`);
    await author.ok('checkout', '-q', '--orphan', 'new');
    await author.commit({ 'new.yaml': 'n' });
    await pushed(author, `HEAD:${DRAFT}/1.2.0`);
    const settings = `${author.api}/settings`;
    expect((await hawser.admin.put(settings, { requireSemVer: false })).status).to.be.below(300);
    await pushed(author, `HEAD:${DRAFT}/autumn`);
    await author.ok('tag', '-a', 'vspring', '-m', 'x');
    await pushed(author, 'vspring');
    expect(await version(author, 'spring')).to.include({ status: 'Published', createdBy: 'admin' });
  });

  it('pushes from a clone of depth 1, and a pack of several megabytes in chunks', async () => {
    const author = await begin();
    const shallow = await cloneOf(client, author.name, token, '--depth', '1');
    await shallow.commit({
      'large.bin': Buffer.from(Array.from({ length: 3_000_000 }, () => Math.random() * 256)),
    });
    await pushed(shallow, `HEAD:${DRAFT}/1.1.0`);
    expect(await version(author, '1.1.0')).to.include({ status: 'Draft' });
  });

  it('leaves nothing of what a killed server had received', async () => {
    mkdirSync(join(hawser.reposDir, '.tmp', 'half', 'objects'), { recursive: true });
    await hawser.restart();
    expect(quarantinesOf(hawser)).to.deep.equal([]);
  });

  itOnSqlite('leaves a repository that git finds sound', async () => {
    const author = await begin();
    await author.commit(TWO);
    await pushed(author, `HEAD:${DRAFT}/1.1.0`);
    await author.ok('tag', '-a', 'v1.2.0', '-m', 'x');
    await pushed(author, 'v1.2.0');
    const gitdir = join(hawser.reposDir, 'configurations', `${author.name}.git`);
    const { code, output } = await client.run('--git-dir', gitdir, 'fsck', '--strict');
    expect(code, output).to.equal(0);
  });
});
