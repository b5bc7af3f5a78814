// everyday: SQLite; full: PostgreSQL
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isId } from '../../src/lib/ids.ts';
import {
  addChild,
  addCompositeDraft,
  COMPOSITES,
  childrenOf,
  compositeOf,
  compositeVersionOf,
  compositeVersionsOf,
  createComposite,
  publishComposite,
  publishWithChildren,
  slowCall,
} from '../support/composites.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { describeOnSqlite, itOnSqlite } from '../support/engine.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, git, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const CAROL = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];

interface Named {
  name: string;
}

describe('an author creates a composite configuration', () => {
  const hawser = started(startHawser);

  const count = async () => Number((await hawser.admin.get(COMPOSITES)).headers['x-total-count']);

  it('from a name, everything else by default', async () => {
    const before = Date.now();
    const reply = await createComposite(hawser.admin, 'plain');
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.headers['location']).to.equal(compositeOf('plain'));
    const { id, createdAt, updatedAt, ...rest } = reply.json;
    expect(rest).to.deep.equal({
      name: 'plain',
      description: null,
      entryPoint: MAIN,
      versionCount: 0,
      latestVersion: null,
      latestPublishedVersion: null,
      access: 'Manage',
    });
    expect(isId(id)).to.equal(true);
    expect(createdAt).to.match(TIMESTAMP);
    expect(updatedAt).to.match(TIMESTAMP);
    expect(Date.parse(createdAt)).to.be.within(before, Date.now());
    const detail = await ok(200, hawser.admin.get(compositeOf('plain')));
    expect(detail).to.deep.equal({ ...reply.json, versions: [] });
    expect(await ok(200, hawser.admin.get(compositeVersionsOf('plain')))).to.deep.equal([]);
    expect(await ok(200, hawser.admin.get(COMPOSITES))).to.deep.equal([reply.json]);
  });

  it('from all members, the entry point brought to its stored form', async () => {
    const description = 'Wärme & <Kälte> "zitiert"\nzweite Zeile';
    const made = await ok(
      201,
      createComposite(hawser.admin, 'Full.Name_1-x', {
        description,
        entryPoint: 'start\\u\u0308ber.dsc.json',
      }),
    );
    expect(made).to.include({ name: 'Full.Name_1-x', description, entryPoint: 'start/über.dsc.json' });
    const nulls = await ok(
      201,
      createComposite(hawser.admin, 'nulls', { description: null, entryPoint: null }),
    );
    expect(nulls).to.include({ description: null, entryPoint: MAIN });
  });

  it('but not from a body that is not as contracted', async () => {
    const before = await count();
    const bad: [body: unknown, path: string][] = [
      [{}, '/name'],
      [{ name: 7 }, '/name'],
      [{ name: null }, '/name'],
      [{ name: 'x', more: 1 }, '/more'],
      [{ name: 'x', version: '1.0.0' }, '/version'],
      [{ name: 'x', description: 7 }, '/description'],
      [{ name: 'x', entryPoint: 7 }, '/entryPoint'],
      [{ name: 'x', entryPoint: '' }, '/entryPoint'],
      [[], ''],
      ['x', ''],
      [null, ''],
    ];
    for (const [json, path] of bad) {
      const reply = await expectProblem(hawser.admin.post(COMPOSITES, json), 400, 'validation_failed');
      expect(reply.json.errors[0].path, JSON.stringify(json)).to.equal(path);
    }
    for (const entryPoint of ['/a', '.git/x']) {
      const reply = createComposite(hawser.admin, 'x', { entryPoint });
      await expectProblem(reply, 400, 'invalid_path', entryPoint);
    }
    const json = { 'Content-Type': 'application/json' };
    const broken = hawser.admin.call('POST', COMPOSITES, { body: '{"name"', headers: json });
    await expectProblem(broken, 400, 'validation_failed: malformed_json');
    const typeless = hawser.admin.call('POST', COMPOSITES, { body: '{"name":"x"}', headers: {} });
    await expectProblem(typeless, 415, 'unsupported_media_type');
    expect(await count()).to.equal(before);
  });

  it('under a name that the rule allows and no other', async () => {
    await ok(201, createComposite(hawser.admin, 'x'.repeat(128)));
    const reply = await expectProblem(createComposite(hawser.admin, 'web.git'), 400, 'validation_failed');
    expect(reply.json.errors[0].path).to.equal('/name');
  });

  it('but not twice under one name whatever its case, and beside a configuration of that name', async () => {
    const configuration = await ok(201, create(hawser.admin, 'Shared'));
    const composite = await ok(201, createComposite(hawser.admin, 'Shared'));
    expect(composite.id).to.not.equal(configuration.id);
    for (const name of ['Shared', 'shared', 'SHARED']) {
      await expectProblem(createComposite(hawser.admin, name), 409, 'name_taken', name);
      await expectProblem(create(hawser.admin, name), 409, 'name_taken', name);
    }
    await expectProblem(hawser.admin.get(compositeOf('shared')), 404, 'not_found');
    await ok(204, hawser.admin.delete(compositeOf('Shared')));
    expect((await hawser.admin.get(`${CONFIGURATIONS}/Shared`)).json.id).to.equal(configuration.id);
  });

  it('once, when twenty ask for the same name at once in different cases', async () => {
    const names = Array.from({ length: 20 }, (_, at) => (at % 2 ? 'race' : 'Race'));
    const replies = await Promise.all(names.map((name) => createComposite(hawser.admin, name)));
    const [won, ...others] = replies.sort((one, other) => one.status - other.status);
    const { id, name } = await ok(201, won ?? expect.fail());
    for (const reply of others) await expectProblem(reply, 409, 'name_taken');
    expect((await ok(200, hawser.admin.get(compositeOf(name)))).id).to.equal(id);
    const list: Named[] = await ok(200, hawser.admin.get(`${COMPOSITES}?take=1000`));
    expect(list.filter((each) => each.name.toLowerCase() === 'race')).to.have.length(1);
  });

  it('and finds it by name, page by page', async () => {
    const all: Named[] = await ok(200, hawser.admin.get(`${COMPOSITES}/?take=1000`));
    const names = all.map(({ name }) => name);
    expect(names)
      .to.deep.equal([...names].sort())
      .and.to.include('plain');
    const page = await hawser.admin.get(`${COMPOSITES}?skip=1&take=2`);
    expect(page.json).to.deep.equal(all.slice(1, 3));
    expect(page.headers['x-total-count']).to.equal(String(all.length));
    expect(page.headers['link']).to.match(/^<[^>]*skip=3[^>]*>; rel="next"$/);
    await expectProblem(hawser.admin.get(compositeOf('nothing')), 404, 'not_found');
  });

  itOnSqlite('and still sees the others when the repository of one is missing', async () => {
    for (const name of ['lost', 'left']) await ok(201, createComposite(hawser.admin, name));
    await hawser.restart();
    rmSync(join(hawser.reposDir, 'composites/lost.git'), { recursive: true });
    const list: Named[] = await ok(200, hawser.admin.get(`${COMPOSITES}?take=1000`));
    const unknown = { versionCount: null, latestVersion: null, latestPublishedVersion: null };
    expect(list.find(({ name }) => name === 'lost')).to.include(unknown);
    expect(list.find(({ name }) => name === 'left')).to.include({ versionCount: 0 });
    await expectProblem(hawser.admin.get(compositeOf('lost')), 500, 'repository_missing');
    await expectProblem(addCompositeDraft(hawser.admin, 'lost', '1.0.0'), 500, 'repository_missing');
    await ok(204, hawser.admin.delete(compositeOf('lost')));
    await ok(201, createComposite(hawser.admin, 'lost'));
  });
});

describe('an author adds and publishes versions of a composite', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await ok(201, createComposite(hawser.admin, 'site'));
  });

  const commitOf = (name: string, ref: string) =>
    hawser.git(`composites/${name}.git`, 'rev-parse', `${ref}^{commit}`).trim();

  it('an empty draft with all its members', async () => {
    const before = Date.now();
    const reply = await addCompositeDraft(hawser.admin, 'site', '1.1.0-beta.3', {
      prereleaseChannel: 'beta',
    });
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.headers['location']).to.equal(compositeVersionOf('site', '1.1.0-beta.3'));
    const { id, createdAt, commit, ...rest } = reply.json;
    expect(rest).to.deep.equal({
      version: '1.1.0-beta.3',
      status: 'Draft',
      prereleaseChannel: 'beta',
      items: [],
      findings: [],
      createdBy: 'admin',
      author: { name: 'admin', email: 'admin@localhost' },
      signature: null,
      publishedAt: null,
      publishedBy: null,
      signatureCheck: null,
      withdrawn: null,
      rollout: null,
      message: null,
    });
    expect(isId(id)).to.equal(true);
    expect(Date.parse(createdAt)).to.be.within(before, Date.now());
    expect(commit).to.equal(commitOf('site', 'draft/1.1.0-beta.3'));
    const read = await hawser.admin.get(compositeVersionOf('site', '1.1.0-beta.3'));
    expect(read.json).to.deep.equal(reply.json);
    expect(read.headers['etag']).to.be.a('string');
    const composite = await ok(200, hawser.admin.get(compositeOf('site')));
    expect(composite).to.include({
      versionCount: 1,
      latestVersion: '1.1.0-beta.3',
      latestPublishedVersion: null,
    });
    expect(composite.versions).to.deep.equal([{ ...reply.json, findings: null }]);
  });

  it('but none without a version, of a bad one, or of a channel that is not its own', async () => {
    for (const version of ['', 'v1.0.0', '1.0.0-x.lock']) {
      const reply = await expectProblem(
        addCompositeDraft(hawser.admin, 'site', version),
        400,
        'validation_failed',
        version,
      );
      expect(reply.json.errors[0].path).to.equal('/version');
    }
    const bodies = [{}, { version: 1 }, { version: '2.0.0', items: [] }, { version: null }];
    for (const body of bodies) {
      await expectProblem(hawser.admin.post(compositeVersionsOf('site'), body), 400, 'validation_failed');
    }
    for (const [version, prereleaseChannel] of [
      ['2.0.0', 'beta'],
      ['2.0.0-rc.1', 'beta'],
      ['2.0.0-rc.1', 'rc.1'],
      ['2.0.0', ''],
    ] as const) {
      const reply = addCompositeDraft(hawser.admin, 'site', version, { prereleaseChannel });
      const { errors } = (await expectProblem(reply, 400, 'validation_failed')).json;
      expect(errors[0].path).to.equal('/prereleaseChannel');
    }
    await expectProblem(addCompositeDraft(hawser.admin, 'nothing', '1.0.0'), 404, 'not_found');
  });

  it('nor one that exists, as a draft, published, or as a twin by build metadata', async () => {
    await publishWithChildren(hawser.admin, 'exists', '1.0.0', ['web']);
    await ok(201, addCompositeDraft(hawser.admin, 'exists', '1.1.0+one'));
    for (const version of ['1.0.0', '1.0.0+x', '1.1.0', '1.1.0+one', '1.1.0+two']) {
      const reply = addCompositeDraft(hawser.admin, 'exists', version);
      await expectProblem(reply, 409, 'version_exists', version);
    }
    const twenty = Array.from({ length: 20 }, () => addCompositeDraft(hawser.admin, 'exists', '2.0.0'));
    const statuses = (await Promise.all(twenty)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, ...Array(19).fill(409)]);
  });

  it('publishes it with who and when, after which nothing changes it', async () => {
    await ok(201, createComposite(hawser.admin, 'first'));
    const version = '1.0.0-rc.1+b';
    await ok(201, addCompositeDraft(hawser.admin, 'first', version));
    const { createdAt } = await ok(200, hawser.admin.get(compositeVersionOf('first', version)));
    const item = await ok(201, addChild(hawser.admin, 'first', version, 'web'));
    const before = Date.now();
    const reply = await publishComposite(hawser.admin, 'first', version);
    const { id, publishedAt, nodes, ...rest } = await ok(200, reply);
    expect(nodes).to.deep.equal({ offered: 0, direct: 0, viaComposites: 0, pinned: 0 });
    expect(rest).to.deep.equal({
      version,
      status: 'Published',
      prereleaseChannel: 'rc',
      items: [item],
      findings: [],
      createdAt,
      createdBy: 'admin',
      author: { name: 'admin', email: 'admin@localhost' },
      signature: null,
      publishedBy: 'admin',
      message: null,
      commit: commitOf('first', `v${version}`),
      signatureCheck: null,
      withdrawn: null,
      rollout: null,
    });
    expect(Date.parse(publishedAt)).to.be.within(before, Date.now());
    await expectProblem(publishComposite(hawser.admin, 'first', version), 409, 'already_published');
    await expectProblem(hawser.admin.delete(compositeVersionOf('first', version)), 409, 'published_version');
    await expectProblem(addChild(hawser.admin, 'first', version, 'web'), 409, 'published_version');
    const path = `${childrenOf('first', version)}/${item.id}`;
    await expectProblem(hawser.admin.put(path, { order: 3 }), 409, 'published_version');
    await expectProblem(hawser.admin.delete(path), 409, 'published_version');
    const shown = await ok(200, hawser.admin.get(compositeVersionOf('first', version)));
    expect({ ...shown, nodes }).to.deep.equal(reply.json);
    const composite = await ok(200, hawser.admin.get(compositeOf('first')));
    expect(composite).to.include({
      latestVersion: version,
      latestPublishedVersion: version,
      versionCount: 1,
    });
    const refs = hawser.git('composites/first.git', 'for-each-ref', '--format=%(refname)').trim();
    expect(refs).to.equal(`refs/tags/v${version}`);
    expect(hawser.git('composites/first.git', 'fsck', '--strict', '--no-dangling')).to.equal('');
    const author = gitClient(hawser);
    const token = await createToken(hawser.client(), hawser.session, [
      'composite-configurations.admin-override',
    ]);
    const cloned = await author.run('clone', author.url('composites/first', token), 'first');
    expect(cloned.code, cloned.output).to.equal(0);
    author.close();
  });

  it('once, when twenty publish it at once', async () => {
    await ok(201, createComposite(hawser.admin, 'race'));
    await ok(201, addCompositeDraft(hawser.admin, 'race', '1.0.0'));
    await ok(201, addChild(hawser.admin, 'race', '1.0.0', 'web'));
    const twenty = Array.from({ length: 20 }, () => publishComposite(hawser.admin, 'race', '1.0.0'));
    const [won, ...others] = (await Promise.all(twenty)).sort((one, other) => one.status - other.status);
    await ok(200, won ?? expect.fail());
    for (const reply of others) await expectProblem(reply, 409, 'already_published');
    expect(commitOf('race', 'main')).to.equal(commitOf('race', 'v1.0.0'));
  });

  it('not without children, nor one that does not exist', async () => {
    await expectProblem(publishComposite(hawser.admin, 'site', '1.1.0-beta.3'), 409, 'no_children');
    for (const version of ['1.1.0', 'v1.1.0-beta.3', 'latest', '..', '%00', 'main']) {
      await expectProblem(publishComposite(hawser.admin, 'site', version), 404, 'not_found', version);
      await expectProblem(hawser.admin.get(compositeVersionOf('site', version)), 404, 'not_found', version);
      await expectProblem(
        hawser.admin.delete(compositeVersionOf('site', version)),
        404,
        'not_found',
        version,
      );
    }
  });

  it('deletes a draft, whose number is then free', async () => {
    await ok(201, addCompositeDraft(hawser.admin, 'site', '3.0.0'));
    await ok(204, hawser.admin.delete(`${compositeVersionOf('site', '3.0.0')}/`));
    await expectProblem(hawser.admin.get(compositeVersionOf('site', '3.0.0')), 404, 'not_found');
    await expectProblem(hawser.admin.delete(compositeVersionOf('site', '3.0.0')), 404, 'not_found');
    await ok(201, addCompositeDraft(hawser.admin, 'site', '3.0.0'));
  });

  it('only as the version was when it was read, where If-Match says so', async () => {
    await ok(201, createComposite(hawser.admin, 'matched'));
    await ok(201, addCompositeDraft(hawser.admin, 'matched', '1.0.0'));
    const version = compositeVersionOf('matched', '1.0.0');
    const etag = (path: string) => etagOf(hawser.admin, path);
    const empty = await etag(version);
    const { id } = await ok(201, addChild(hawser.admin, 'matched', '1.0.0', 'web'));
    const child = `${childrenOf('matched', '1.0.0')}/${id}`;
    const call = (method: string, path: string, match: string, json?: unknown) =>
      hawser.admin.call(method, path, { headers: { 'If-Match': match }, ...(json ? { json } : {}) });
    const stale = [
      call('PUT', child, empty, { order: 1 }),
      call('DELETE', child, empty),
      call('PUT', `${version}/publish`, empty),
      call('DELETE', version, empty),
      call('DELETE', compositeOf('matched'), empty),
      call('PUT', child, `W/${await etag(version)}`, { order: 1 }),
    ];
    for (const reply of stale) await expectProblem(reply, 412, 'precondition_failed');
    await ok(200, call('PUT', child, await etag(version), { order: 1 }));
    await ok(204, call('DELETE', child, `"x", ${await etag(version)}`));
    await ok(201, addChild(hawser.admin, 'matched', '1.0.0', 'web'));
    await ok(200, call('PUT', `${version}/publish`, await etag(version)));
    await ok(201, addCompositeDraft(hawser.admin, 'matched', '2.0.0'));
    const second = compositeVersionOf('matched', '2.0.0');
    await ok(204, call('DELETE', second, await etag(second)));
    await ok(204, call('DELETE', compositeOf('matched'), await etag(compositeOf('matched'))));
  });
});

describe('an author deletes a composite', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });

  const grantsOn = (id: string) =>
    withDatabase(hawser, ({ read }) =>
      read.selectFrom('grants').select('level').where('resource_id', '=', id).execute(),
    );

  it('with its repository and grants, and the name is free', async () => {
    await publishWithChildren(hawser.admin, 'gone', '1.0.0', ['web']);
    const { id } = await ok(200, hawser.admin.get(compositeOf('gone')));
    expect(await grantsOn(id)).to.have.length(1);
    await ok(204, hawser.admin.delete(compositeOf('gone')));
    await expectProblem(hawser.admin.get(compositeOf('gone')), 404, 'not_found');
    await expectProblem(hawser.admin.delete(compositeOf('gone')), 404, 'not_found');
    expect(hawser.has('composites/gone.git')).to.equal(false);
    expect(await grantsOn(id)).to.deep.equal([]);
    const again = await ok(201, createComposite(hawser.admin, 'GONE'));
    expect(again).to.include({ versionCount: 0, name: 'GONE' });
    expect(again.id).to.not.equal(id);
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/web`));
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });

  it('not while a node has it', async () => {
    await publishWithChildren(hawser.admin, 'used', '1.0.0', ['web']);
    const node = await hawser.registerNode('used.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: 'used', isComposite: true }));
    await expectProblem(hawser.admin.delete(compositeOf('used')), 409, 'in_use');
    await ok(200, node.client.get(`${path}/checksum`));
    await expectProblem(hawser.admin.delete(`${CONFIGURATIONS}/web`), 409, 'in_use');
    await ok(204, hawser.admin.delete(path));
    await ok(204, hawser.admin.delete(compositeOf('used')));
  });

  it('once, when twenty delete it at once while others write to it', async () => {
    await ok(201, createComposite(hawser.admin, 'race'));
    const deletions = Array.from({ length: 20 }, () => hawser.admin.delete(compositeOf('race')));
    const writes = Array.from({ length: 20 }, (_, at) =>
      addCompositeDraft(hawser.admin, 'race', `1.0.${at}`),
    );
    const statuses = (await Promise.all(deletions)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([204, ...Array(19).fill(404)]);
    for (const { status, text } of await Promise.all(writes)) expect(status, text).to.be.oneOf([201, 404]);
    expect(hawser.has('composites/race.git')).to.equal(false);
    await ok(201, createComposite(hawser.admin, 'race'));
  });

  it('and nobody whose request began before gets at the next one of its name', async () => {
    const eve = await makeUser(hawser, { username: 'eve', roles: ['Author'] });
    await ok(201, createComposite(eve.client, 'bait'));
    await ok(201, addCompositeDraft(eve.client, 'bait', '1.0.0'));
    const scopes = ['composite-configurations.grants', 'configurations.grants'];
    const token = await ok(201, eve.client.post('/api/v1/auth/tokens', { name: 'slow', scopes }));
    const headers = { Authorization: `Bearer ${token.token}` };
    await ok(201, create(eve.client, 'eves'));
    const calls = await Promise.all([
      slowCall(hawser, 'POST', compositeVersionsOf('bait'), { headers, json: { version: '6.6.6' } }),
      slowCall(hawser, 'POST', childrenOf('bait', '1.0.0'), {
        headers,
        json: { childConfigurationName: 'eves' },
      }),
      slowCall(hawser, 'PUT', `${compositeOf('bait')}/permissions`, {
        headers,
        json: { principalType: 'User', principalId: eve.userId, level: 'Manage' },
      }),
    ]);
    await ok(204, hawser.admin.delete(compositeOf('bait')));
    const made = await ok(201, createComposite(hawser.admin, 'bait'));
    await ok(201, addCompositeDraft(hawser.admin, 'bait', '1.0.0'));
    for (const call of calls) expect(await call.finish()).to.equal('404 not_found');
    const { versions } = await ok(200, hawser.admin.get(compositeOf('bait')));
    expect(versions).to.have.length(1);
    expect(versions[0].items).to.deep.equal([]);
    await expectProblem(eve.client.get(compositeOf('bait')), 404, 'not_found');
    expect(await grantsOn(made.id)).to.have.length(1);
    const dangling = await withDatabase(hawser, ({ read }) =>
      read.selectFrom('grants').select('resource_id').where('principal_id', '=', eve.userId).execute(),
    );
    expect(dangling).to.have.length(1);
  });
});

describeOnSqlite('at its start the server brings composites and their repositories together', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });

  const folderOf = (name: string) => join(hawser.reposDir, 'composites', `${name}.git`);

  it('adopting one without a row, with its entry point and its creator', async () => {
    const ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    const token = await ok(
      201,
      ada.client.post('/api/v1/auth/tokens', { name: 't', scopes: ['composite-configurations.grants'] }),
    );
    const wish = { description: 'Zeile 1\nZeile "2"', entryPoint: 'start "x".dsc.json' };
    const made = await ok(201, createComposite(ada.client, 'lost', wish));
    await ok(201, addCompositeDraft(ada.client, 'lost', '1.0.0'));
    await ok(201, addChild(hawser.admin, 'lost', '1.0.0', 'web', { activeVersion: '1.0.0' }));
    await ok(200, publishComposite(ada.client, 'lost', '1.0.0'));
    const before = await ok(200, ada.client.get(compositeOf('lost')));
    await withDatabase(hawser, ({ write }) =>
      write.deleteFrom('composites').where('name', '=', 'lost').execute(),
    );
    await expectProblem(ada.client.get(compositeOf('lost')), 404, 'not_found');
    await hawser.restart();
    const again = hawser.client().with({ Authorization: `Bearer ${token.token}` });
    const adopted = await ok(200, again.get(compositeOf('lost')));
    const { updatedAt: _, ...rest } = before;
    expect(adopted).to.deep.include(rest);
    expect(adopted).to.include({ id: made.id, ...wish });
    await ok(200, again.get(`${compositeOf('lost')}/permissions`));
    await ok(201, addCompositeDraft(again, 'lost', '1.1.0'));
    await expectProblem(createComposite(hawser.admin, 'LOST'), 409, 'name_taken');
    expect((await hawser.admin.get(COMPOSITES)).json).to.have.length(1);
  });

  it('a copy under another id, and one of stock git whose children do not exist', async () => {
    await ok(201, createComposite(hawser.admin, 'original'));
    cpSync(folderOf('original'), folderOf('copy'), { recursive: true });
    cpSync(folderOf('original'), folderOf('web.lock'), { recursive: true });
    const child = {
      id: '00000000-0000-4000-8000-000000000001',
      configuration: 'nowhere',
      version: null,
      order: 0,
    };
    const work = join(hawser.folder, 'work');
    git(hawser.folder, 'clone', '--quiet', folderOf('copy'), work);
    writeFileSync(join(work, 'composite.json'), JSON.stringify({ entryPoint: MAIN, children: [child] }));
    git(work, 'add', '.');
    git(work, ...CAROL, 'commit', '--quiet', '-m', 'First');
    git(work, ...CAROL, 'tag', '-a', '-m', 'Release', 'v1.0.0');
    git(work, 'push', '--quiet', 'origin', '--tags');
    await hawser.restart();
    const original = await ok(200, hawser.admin.get(compositeOf('original')));
    const copy = await ok(200, hawser.admin.get(compositeOf('copy')));
    expect(copy.id).to.not.equal(original.id);
    expect(copy.latestPublishedVersion).to.equal('1.0.0');
    const { configuration: childConfigurationName, id, order } = child;
    const names = { childConfigurationId: null, childConfigurationName };
    const item = { id, ...names, activeVersion: null, majorVersion: null, order, pinnedToWithdrawn: false };
    expect(copy.versions[0].items).to.deep.equal([item]);
    await expectProblem(hawser.admin.get(compositeOf('web.lock')), 404, 'not_found');
  });

  it('ending a removal that was cut off, so that the name can be used again', async () => {
    await publishWithChildren(hawser.admin, 'cut', '1.0.0', ['web']);
    await ok(201, create(hawser.admin, 'cut'));
    const gone = await ok(200, hawser.admin.get(compositeOf('cut')));
    await withDatabase(hawser, async ({ write }) => {
      await write.deleteFrom('composites').where('name', '=', 'cut').execute();
      await write.insertInto('repository_removals').values({ kind: 'composites', name: 'cut' }).execute();
      await write.insertInto('repository_removals').values({ kind: 'composites', name: 'never' }).execute();
    });
    await hawser.restart();
    expect(existsSync(folderOf('cut'))).to.equal(false);
    await expectProblem(hawser.admin.get(compositeOf('cut')), 404, 'not_found');
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/cut`));
    const made = await ok(201, createComposite(hawser.admin, 'cut'));
    expect(made.id).to.not.equal(gone.id);
    await hawser.restart();
    expect((await hawser.admin.get(compositeOf('cut'))).json.id).to.equal(made.id);
    const left = await withDatabase(hawser, ({ read }) =>
      read.selectFrom('repository_removals').selectAll().execute(),
    );
    expect(left).to.deep.equal([]);
  });
});
