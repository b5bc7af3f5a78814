// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { isId } from '../../src/lib/ids.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  post,
  versionsOf,
} from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip } from '../support/zip.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('an author creates a configuration', () => {
  const hawser = started(startHawser);

  const count = async () => Number((await hawser.admin.get(CONFIGURATIONS)).headers['x-total-count']);

  it('from a name and one file, everything else by default', async () => {
    const before = Date.now();
    const reply = await create(hawser.admin, 'plain');
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.headers['location']).to.equal(`${CONFIGURATIONS}/plain`);
    expect(Object.keys(reply.json)).to.have.members([
      'id',
      'name',
      'description',
      'useServerManagedParameters',
      'versionCount',
      'latestVersion',
      'latestPublishedVersion',
      'createdAt',
      'updatedAt',
      'access',
      'parametersAccess',
      'ignoredFiles',
    ]);
    expect(reply.json).to.include({
      name: 'plain',
      description: null,
      useServerManagedParameters: true,
      versionCount: 1,
      latestVersion: '1.0.0',
      latestPublishedVersion: null,
    });
    expect(isId(reply.json.id)).to.equal(true);
    expect(reply.json.createdAt).to.match(TIMESTAMP);
    expect(Date.parse(reply.json.createdAt)).to.be.within(before, Date.now());
    expect(reply.json.updatedAt).to.match(TIMESTAMP);
    const read = await hawser.admin.get(`${CONFIGURATIONS}/plain`);
    expect({ ...read.json, ignoredFiles: [] }).to.deep.equal(reply.json);
    const [version] = await ok(200, hawser.admin.get(versionsOf('plain')));
    expect(version).to.include({ version: '1.0.0', status: 'Draft', entryPoint: MAIN, fileCount: 1 });
  });

  it('from all fields, with files in folders', async () => {
    const fields = {
      description: 'Wärme & <Kälte> "zitiert"\nzweite Zeile',
      entryPoint: 'docs/start.dsc.json',
      useServerManagedParameters: 'FALSE',
      version: '2.1.0-rc.1+build.5',
      prereleaseChannel: 'rc',
    };
    const files = { 'docs/start.dsc.json': '{}', 'parameters.yaml': 'mine: true\n', 'a/b/c.ps1': 'x' };
    const made = await ok(201, create(hawser.admin, 'Full.Name_1-x', fields, { files }));
    expect(made).to.include({
      name: 'Full.Name_1-x',
      description: fields.description,
      useServerManagedParameters: false,
      latestVersion: '2.1.0-rc.1+build.5',
    });
    const [version] = await ok(200, hawser.admin.get(versionsOf('Full.Name_1-x')));
    expect(version).to.include({
      version: '2.1.0-rc.1+build.5',
      entryPoint: 'docs/start.dsc.json',
      prereleaseChannel: 'rc',
      fileCount: 3,
    });
    const file = fileOf('Full.Name_1-x', encodeURIComponent(version.version), 'parameters.yaml');
    expect((await hawser.admin.get(file)).text).to.equal('mine: true\n');
  });

  it('from a ZIP archive, its folders and backslashes read as paths', async () => {
    const archive = makeZip([
      { name: 'modules/' },
      { name: MAIN, content: '$schema: x\nresources: []\n' },
      { name: 'modules\\iis.yaml', content: 'iis' },
    ]);
    await ok(201, create(hawser.admin, 'zipped', {}, { archive }));
    const [version] = await ok(200, hawser.admin.get(versionsOf('zipped')));
    expect(version.fileCount).to.equal(2);
    expect((await hawser.admin.get(fileOf('zipped', '1.0.0', 'modules/iis.yaml'))).text).to.equal('iis');
  });

  it('with empty form fields counted as not given', async () => {
    const fields = { description: '', entryPoint: '', version: '', prereleaseChannel: '' };
    const made = await ok(
      201,
      create(hawser.admin, 'empties', { ...fields, useServerManagedParameters: '' }),
    );
    expect(made).to.include({ description: null, latestVersion: '1.0.0', useServerManagedParameters: true });
  });

  it('under a name that the rule allows and no other', async () => {
    await ok(201, create(hawser.admin, 'x'.repeat(128)));
    const before = await count();
    const reserved = await expectProblem(create(hawser.admin, 'web.git'), 400, 'validation_failed');
    expect(reserved.json.errors[0]).to.include({ path: '/name' });
    const nameless = post(hawser.admin, CONFIGURATIONS, {});
    expect((await expectProblem(nameless, 400, 'validation_failed')).json.errors[0].path).to.equal('/name');
    expect(await count()).to.equal(before);
  });

  it('but not twice under one name, whatever its case', async () => {
    await ok(201, create(hawser.admin, 'Taken'));
    for (const name of ['Taken', 'taken', 'TAKEN']) {
      await expectProblem(create(hawser.admin, name), 409, 'name_taken');
    }
    await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/taken`), 404, 'not_found');
  });

  it('once, when twenty ask for the same name at once in different cases', async () => {
    const names = Array.from({ length: 20 }, (_, at) => (at % 2 ? 'race' : 'Race'));
    const replies = await Promise.all(names.map((name) => create(hawser.admin, name)));
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).to.deep.equal([201, ...Array(19).fill(409)]);
    for (const reply of replies) if (reply.status === 409) expect(reply.json.code).to.equal('name_taken');
    const won = replies.find((reply) => reply.status === 201)?.json;
    expect((await hawser.admin.get(`${CONFIGURATIONS}/${won.name}`)).json.id).to.equal(won.id);
    const list = await ok(200, hawser.admin.get(CONFIGURATIONS));
    const same = list.filter((entry: { name: string }) => entry.name.toLowerCase() === 'race');
    expect(same).to.have.length(1);
  });

  it('not without a file, nor without one at the entry point', async () => {
    const before = await count();
    await expectProblem(create(hawser.admin, 'none', {}, {}), 400, 'validation_failed');
    const archive = makeZip([{ name: 'folder/' }]);
    await expectProblem(create(hawser.admin, 'none', {}, { archive }), 400, 'validation_failed');
    const elsewhere = { files: { 'other.yaml': 'x' } };
    await expectProblem(create(hawser.admin, 'none', {}, elsewhere), 400, 'validation_failed');
    const otherCase = { files: { 'MAIN.dsc.yaml': 'x' } };
    await expectProblem(create(hawser.admin, 'none', {}, otherCase), 400, 'validation_failed');
    await expectProblem(create(hawser.admin, 'none', { entryPoint: 'x.yaml' }), 400, 'validation_failed');
    await expectProblem(create(hawser.admin, 'none', { entryPoint: `../${MAIN}` }), 400, 'invalid_path');
    expect(await count()).to.equal(before);
  });

  it('not with form fields that nobody knows, or that have no such value', async () => {
    const wrong: Record<string, string>[] = [
      { colour: 'red' },
      { __proto__: '1', id: 'x' },
      { useServerManagedParameters: 'yes' },
      { useServerManagedParameters: '1' },
      { description: 'x'.repeat(4_001) },
    ];
    for (const fields of wrong) {
      const what = JSON.stringify(fields);
      await expectProblem(create(hawser.admin, 'wrong', fields), 400, 'validation_failed', what);
    }
    await expectProblem(addVersion(hawser.admin, 'plain', { name: 'x' }), 400, 'validation_failed');
    await expectProblem(addVersion(hawser.admin, 'plain', { description: 'x' }), 400, 'validation_failed');
  });

  it('not at a version that SemVer, or Git for its refs, refuses', async () => {
    for (const version of ['v1.0.0', '1.0', '01.0.0', '1.0.0-a..b', 'latest', '1.0.0+a.lock', '1.0.0/../x']) {
      const reply = create(hawser.admin, 'versioned', { version });
      const { errors } = (await expectProblem(reply, 400, 'validation_failed', version)).json;
      expect(errors[0]).to.include({ path: '/version' });
      await expectProblem(addVersion(hawser.admin, 'plain', { version }), 400, 'validation_failed', version);
    }
    await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/versioned`), 404, 'not_found');
  });

  it("takes a prerelease channel that is the version's own, and derives it where none is given", async () => {
    const mismatch: [string, string][] = [
      ['1.0.0', 'beta'],
      ['1.0.0-beta.2', 'rc'],
      ['1.0.0-beta.2', 'beta.2'],
      ['1.0.0-beta.2', 'Beta'],
      ['1.0.0-1.2', '2'],
    ];
    for (const [version, prereleaseChannel] of mismatch) {
      const reply = create(hawser.admin, 'channel', { version, prereleaseChannel });
      await expectProblem(reply, 400, 'validation_failed', `${version} ${prereleaseChannel}`);
    }
    await ok(201, create(hawser.admin, 'channel', { version: '1.0.0-beta.2' }));
    await ok(201, addVersion(hawser.admin, 'channel', { version: '1.0.0-7.x', prereleaseChannel: '7' }));
    const stable = await ok(201, addVersion(hawser.admin, 'channel', { version: '1.0.0' }));
    expect(stable.prereleaseChannel).to.equal(null);
    const list = await ok(200, hawser.admin.get(versionsOf('channel')));
    const channels = list.map((version: { prereleaseChannel: unknown }) => version.prereleaseChannel);
    expect(channels).to.deep.equal([null, 'beta', '7']);
  });

  it('not with a file where the merged parameters go, unless it manages its parameters itself', async () => {
    const paths = ['parameters.yaml', 'Parameters.YAML', 'parameters.yaml/x', 'parameter\u017f.yaml'];
    for (const [at, path] of paths.entries()) {
      const more = { files: { [MAIN]: 'x', [path]: 'y' } };
      await expectProblem(create(hawser.admin, 'reserved', {}, more), 409, 'reserved_path', path);
      await expectProblem(addVersion(hawser.admin, 'plain', {}, more), 409, 'reserved_path', path);
      const own = { useServerManagedParameters: 'false' };
      await ok(201, create(hawser.admin, `own-${at}`, own, more));
    }
    const elsewhere = { files: { [MAIN]: 'x', 'sub/parameters.yaml': 'y', 'parameters.yml': 'z' } };
    await ok(201, create(hawser.admin, 'not-reserved', {}, elsewhere));
  });
});
