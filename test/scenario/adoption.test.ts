import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import {
  git,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';

const CAROL = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];

describeOnSqlite('at its start the server brings registry and repositories together', () => {
  let hawser: Hawser;

  before(async () => {
    hawser = await startHawser();
  });

  after(() => hawser.close());

  const folderOf = (name: string) => join(hawser.reposDir, 'configurations', `${name}.git`);
  const loseRow = (name: string) =>
    withDatabase(hawser, ({ write }) =>
      write.deleteFrom('configurations').where('name', '=', name).execute(),
    );

  it('adopting a repository without a row as it was created', async () => {
    const ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    const fields = {
      description: 'Zeile 1\nZeile "2" \\ #;',
      useServerManagedParameters: 'false',
      version: '1.2.0',
    };
    const made = await ok(201, create(ada.client, 'lost', fields));
    await ok(200, publish(ada.client, 'lost', '1.2.0'));
    const versions = await ok(200, ada.client.get(versionsOf('lost')));
    await loseRow('lost');
    await expectProblem(ada.client.get(`${CONFIGURATIONS}/lost`), 404, 'not_found');
    await hawser.restart();
    const again = hawser.client().with({ Cookie: ada.session });
    const adopted = await ok(200, again.get(`${CONFIGURATIONS}/lost`));
    const { latestPublishedVersion, updatedAt, ...rest } = made;
    expect(adopted).to.deep.include(rest);
    expect(adopted.latestPublishedVersion).to.equal('1.2.0');
    expect(await ok(200, again.get(versionsOf('lost')))).to.deep.equal(versions);
    await ok(201, addVersion(again, 'lost'));
    await expectProblem(create(hawser.admin, 'LOST'), 409, 'name_taken');
  });

  it('adopting what stock git made, which a node then gets', async () => {
    const bare = folderOf('foreign');
    mkdirSync(bare);
    git(bare, 'init', '--bare', '--quiet');
    const work = join(hawser.folder, 'work');
    git(hawser.folder, 'clone', '--quiet', bare, work);
    writeFileSync(join(work, MAIN), 'resources: []\n');
    mkdirSync(join(work, 'scripts'));
    writeFileSync(join(work, 'scripts/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    git(work, 'add', '.');
    git(work, ...CAROL, 'commit', '--quiet', '-m', 'First');
    git(work, ...CAROL, 'tag', '-a', '-m', 'Release', 'v1.0.0');
    git(work, 'tag', 'v2.0.0');
    git(work, 'push', '--quiet', 'origin', 'HEAD:main', '--tags');
    mkdirSync(folderOf('unborn'));
    git(folderOf('unborn'), 'init', '--bare', '--quiet');
    await hawser.restart();
    const adopted = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/foreign`));
    expect(adopted).to.include({ description: null, useServerManagedParameters: true, versionCount: 1 });
    expect(adopted.latestPublishedVersion).to.equal('1.0.0');
    const [version] = await ok(200, hawser.admin.get(versionsOf('foreign')));
    const people = { createdBy: 'Carol', publishedBy: 'Carol', entryPoint: MAIN, fileCount: 2 };
    expect(version).to.include({ version: '1.0.0', status: 'Published', ...people });
    const node = await hawser.registerNode('foreign.example.org');
    const assignment = { configurationName: 'foreign' };
    await ok(204, hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
    const pulled = await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration`);
    expect(pulled.text).to.equal('resources: []\n');
    const next = await ok(201, addVersion(hawser.admin, 'foreign'));
    expect(next.version).to.equal('1.0.1');
    expect(git(bare, 'rev-parse', 'draft/1.0.1^').trim()).to.equal(version.commit);
    const unborn = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/unborn`));
    expect(unborn).to.include({ versionCount: 0, latestVersion: null, latestPublishedVersion: null });
    expect(await ok(200, hawser.admin.get(versionsOf('unborn')))).to.deep.equal([]);
    expect((await ok(201, addVersion(hawser.admin, 'unborn'))).version).to.equal('1.0.0');
  });

  it('starting whatever else lies among the repositories', async () => {
    await ok(201, create(hawser.admin, 'original', { description: 'The original' }));
    cpSync(folderOf('original'), folderOf('copy'), { recursive: true });
    cpSync(folderOf('original'), folderOf('Original'), { recursive: true });
    mkdirSync(folderOf('rubbish'));
    cpSync(folderOf('original'), folderOf('a..b'), { recursive: true });
    writeFileSync(folderOf('file'), 'no folder');
    writeFileSync(join(hawser.reposDir, 'configurations', 'README'), 'notes');
    await hawser.restart();
    const original = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/original`));
    const copy = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/copy`));
    expect(copy).to.include({ description: 'The original', versionCount: 1 });
    expect(copy.id).to.not.equal(original.id);
    for (const name of ['Original', 'rubbish', 'a..b', 'file']) {
      await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/${name}`), 404, 'not_found', name);
    }
    await hawser.restart();
    expect((await ok(200, hawser.admin.get(`${CONFIGURATIONS}/copy`))).id).to.equal(copy.id);
    expect(hawser.log()).to.match(/"name":"Original"\}.*cannot be adopted/);
  });
});

describeOnSqlite('one broken repository is the only one that does not answer', () => {
  let hawser: Hawser;
  let nodes: Record<string, NodeUnderTest>;
  const NAMES = ['missing', 'damaged', 'sound'];

  before(async () => {
    hawser = await startHawser();
    nodes = {};
    for (const name of NAMES) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: `${name}\n` } });
      const node = await hawser.registerNode(`${name}.example.org`);
      const assignment = { configurationName: name };
      await ok(204, hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, assignment));
      nodes[name] = node;
    }
  });

  after(() => hawser.close());

  const repositoryOf = (name: string) => join(hawser.reposDir, 'configurations', `${name}.git`);

  const pull = (name: string, what = '') => {
    const node = nodes[name];
    if (!node) throw new Error(name);
    return hawser.client(node.identity).get(`/api/v1/nodes/${node.nodeId}/configuration${what}`);
  };

  const soundGoesOn = async () => {
    const list = await ok(200, hawser.admin.get(CONFIGURATIONS));
    expect(list.map((it: { name: string }) => it.name)).to.include.members(NAMES);
    expect(list.find((it: { name: string }) => it.name === 'sound')).to.include({ versionCount: 1 });
    expect((await hawser.admin.get(fileOf('sound', '1.0.0', MAIN))).text).to.equal('sound\n');
    expect((await pull('sound')).text).to.equal('sound\n');
    expect((await hawser.client().get('/health/ready')).status).to.equal(200);
  };

  const missingAnswers = async () => {
    const gets = [`${CONFIGURATIONS}/missing`, versionsOf('missing'), fileOf('missing', '1.0.0', MAIN)];
    for (const path of gets) await expectProblem(hawser.admin.get(path), 500, 'repository_missing', path);
    await expectProblem(addVersion(hawser.admin, 'missing'), 500, 'repository_missing');
    await expectProblem(publish(hawser.admin, 'missing', '1.0.0'), 500, 'repository_missing');
    await expectProblem(pull('missing', '/checksum'), 500, 'repository_missing');
    await expectProblem(pull('missing', '/bundle'), 500, 'repository_missing');
    await expectProblem(create(hawser.admin, 'missing'), 409, 'name_taken');
    const list = await ok(200, hawser.admin.get(CONFIGURATIONS));
    // Unknown is not nought.
    expect(list.find((it: { name: string }) => it.name === 'missing')).to.include({
      versionCount: null,
      latestVersion: null,
      latestPublishedVersion: null,
    });
    await soundGoesOn();
  };

  it('when its folder goes while the server runs, and after a start without it', async () => {
    rmSync(repositoryOf('missing'), { recursive: true });
    await eventually(async () => {
      expect((await hawser.admin.get(`${CONFIGURATIONS}/missing`)).status).to.equal(500);
    });
    await missingAnswers();
    expect(readdirSync(join(hawser.reposDir, 'configurations'))).to.not.include('missing.git');
    await hawser.restart();
    await missingAnswers();
    expect(hawser.log()).to.match(/"level":"error"[^\n]*"kind":"configurations","name":"missing"/);
  });

  it('when one of its objects is cut off, and it is whole again when the object is', async () => {
    const blob = git(repositoryOf('damaged'), 'rev-parse', `v1.0.0:${MAIN}`).trim();
    const object = join(repositoryOf('damaged'), 'objects', blob.slice(0, 2), blob.slice(2));
    const whole = readFileSync(object);
    await hawser.restart();
    truncateSync(object, Math.floor(statSync(object).size / 2));
    await expectProblem(hawser.admin.get(fileOf('damaged', '1.0.0', MAIN)), 500, 'repository_damaged');
    await expectProblem(pull('damaged', '/bundle'), 500, 'repository_damaged');
    await expectProblem(pull('damaged'), 500, 'repository_damaged');
    await soundGoesOn();
    rmSync(object);
    await expectProblem(pull('damaged', '/bundle'), 500, 'repository_damaged');
    writeFileSync(object, whole);
    expect((await pull('damaged')).text).to.equal('damaged\n');
    expect((await pull('damaged', '/bundle')).status).to.equal(200);
  });

  it('when its tag, commit or tree is cut off, however short', async () => {
    const cuts = ['v1.0.0', 'v1.0.0^{commit}', 'v1.0.0^{tree}'].flatMap((what) =>
      [0, 10, 40].map((length) => ({ name: `cut-${what.replace(/\W/g, '')}-${length}`, what, length })),
    );
    for (const { name } of cuts) await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: 'x' } });
    for (const { name, what, length } of cuts) {
      const oid = git(repositoryOf(name), 'rev-parse', what).trim();
      const object = join(repositoryOf(name), 'objects', oid.slice(0, 2), oid.slice(2));
      const whole = readFileSync(object);
      rmSync(object);
      writeFileSync(object, whole.subarray(0, length));
    }
    await hawser.restart();
    for (const { name } of cuts) {
      // Never a shorter list, nor a lower version: what cannot be read is said.
      await expectProblem(hawser.admin.get(versionsOf(name)), 500, 'repository_damaged', name);
      await expectProblem(hawser.admin.get(fileOf(name, '1.0.0', MAIN)), 500, 'repository_damaged', name);
      const path = `/api/v1/nodes/${nodes['damaged']?.nodeId}/configuration`;
      await ok(204, hawser.admin.put(path, { configurationName: name }));
      await expectProblem(pull('damaged', '/checksum'), 500, 'repository_damaged', name);
    }
    await soundGoesOn();
  });
});
