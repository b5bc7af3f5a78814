// full: SQLite
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { git, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const CAROL = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];

describeOnSqlite('at its start the server brings registry and repositories together', () => {
  const hawser = started(startHawser);

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
    const { latestPublishedVersion, updatedAt, ignoredFiles, ...rest } = made;
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
    writeFileSync(join(work, MAIN), '$schema: x\nresources: []\n');
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
    expect(pulled.text).to.equal('$schema: x\nresources: []\n');
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
    expect(hawser.log()).to.match(/"level":"error"[^\n]*"kind":"configurations","name":"Original"/);
  });
});
