// full: SQLite, PostgreSQL
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { grant, makeUser } from '../support/people.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const COMPOSITES = '/api/v1/composite-configurations';
const of = (name: string) => `${CONFIGURATIONS}/${name}`;
const patch = (client: Client, name: string, json: unknown, headers = {}): Promise<Reply> =>
  client.call('PATCH', of(name), { json, headers });

describe('somebody changes a configuration', () => {
  const hawser = started(startHawser);

  it('by any subset of description and flag, and gets it whole', async () => {
    const made = await ok(201, create(hawser.admin, 'subset', { description: 'first' }));
    const { updatedAt, ...rest } = await ok(200, patch(hawser.admin, 'subset', { description: 'second' }));
    const { updatedAt: before, ignoredFiles, ...unchanged } = made;
    expect(rest).to.deep.equal({ ...unchanged, description: 'second' });
    expect(Date.parse(updatedAt)).to.be.at.least(Date.parse(before));
    const flag = await ok(200, patch(hawser.admin, 'subset', { useServerManagedParameters: false }));
    expect(flag).to.include({ description: 'second', useServerManagedParameters: false });
    expect(await ok(200, patch(hawser.admin, 'subset', {}))).to.include({
      description: 'second',
      useServerManagedParameters: false,
    });
    const both = { description: null, useServerManagedParameters: true };
    expect(await ok(200, patch(hawser.admin, 'subset', both))).to.include(both);
    expect(await ok(200, hawser.admin.get(of('subset')))).to.include(both);
    await hawser.restart();
    expect(await ok(200, hawser.admin.get(of('subset')))).to.include(both);
  });

  it('but not by members that it does not have or values of another type', async () => {
    await ok(201, create(hawser.admin, 'strict', { description: 'kept' }));
    const bad: [path: string, body: unknown][] = [
      ['', { name: 'other' }],
      ['', { description: 'x', entryPoint: 'y' }],
      ['', { id: 'x' }],
      ['/description', { description: 7 }],
      ['/useServerManagedParameters', { useServerManagedParameters: 'false' }],
      ['', []],
      ['', null],
      ['', 'text'],
    ];
    for (const [path, body] of bad) {
      const what = JSON.stringify(body);
      const reply = await expectProblem(patch(hawser.admin, 'strict', body), 400, 'validation_failed', what);
      expect(reply.json.errors, what).to.be.an('array').with.length.greaterThan(0);
      if (path !== '') expect(reply.json.errors[0].path, what).to.equal(path);
    }
    const headers = { 'Content-Type': 'application/json' };
    expect((await hawser.admin.call('PATCH', of('strict'), { body: '{', headers })).status).to.equal(400);
    expect((await hawser.admin.call('PATCH', of('strict'), { body: '{}' })).status).to.equal(415);
    expect(await ok(200, hawser.admin.get(of('strict')))).to.include({ description: 'kept' });
    await expectProblem(patch(hawser.admin, 'nothing', { description: 'x' }), 404, 'not_found');
    await expectProblem(patch(hawser.admin, 'STRICT', { description: 'x' }), 404, 'not_found');
  });

  it('not to server-managed parameters while its highest version has a file where they go', async () => {
    const own = { useServerManagedParameters: 'false' };
    for (const [at, path] of ['parameters.yaml', 'Parameters.YAML', 'parameters.yaml/x'].entries()) {
      const name = `reserved-${at}`;
      await ok(201, create(hawser.admin, name, own, { files: { [MAIN]: 'x', [path]: 'y' } }));
      const on = { description: 'never stored', useServerManagedParameters: true };
      await expectProblem(patch(hawser.admin, name, on), 409, 'reserved_path', path);
      expect(await ok(200, hawser.admin.get(of(name)))).to.include({
        description: null,
        useServerManagedParameters: false,
      });
      await ok(200, patch(hawser.admin, name, { description: 'x', useServerManagedParameters: false }));
      await ok(201, addVersion(hawser.admin, name));
      await ok(200, patch(hawser.admin, name, { useServerManagedParameters: true }));
      await ok(200, patch(hawser.admin, name, { useServerManagedParameters: false }));
      await ok(201, addVersion(hawser.admin, name, {}, { files: { [MAIN]: 'x', [path]: 'y' } }));
      await ok(200, publish(hawser.admin, name, '1.0.2'));
      await expectProblem(patch(hawser.admin, name, on), 409, 'reserved_path', path);
    }
    const elsewhere = { files: { [MAIN]: 'x', 'sub/parameters.yaml': 'y', 'parameters.yml': 'z' } };
    await ok(201, create(hawser.admin, 'elsewhere', own, elsewhere));
    await ok(200, patch(hawser.admin, 'elsewhere', { useServerManagedParameters: true }));
  });

  it('only as it was read, where it says so', async () => {
    await ok(201, create(hawser.admin, 'match'));
    const etag = await etagOf(hawser.admin, of('match'));
    for (const wrong of ['"other"', `W/${etag}`, '""', 'nonsense']) {
      const reply = patch(hawser.admin, 'match', { description: 'never' }, { 'If-Match': wrong });
      await expectProblem(reply, 412, 'precondition_failed', wrong);
    }
    expect(await ok(200, hawser.admin.get(of('match')))).to.include({ description: null });
    await ok(200, patch(hawser.admin, 'match', { description: 'a' }, { 'If-Match': `"x", ${etag}` }));
    const stale = patch(hawser.admin, 'match', { description: 'b' }, { 'If-Match': etag });
    await expectProblem(stale, 412, 'precondition_failed');
    await ok(200, patch(hawser.admin, 'match', { description: 'c' }, { 'If-Match': '*' }));
    const nothing = patch(hawser.admin, 'nothing', {}, { 'If-Match': '*' });
    await expectProblem(nothing, 404, 'not_found');
  });

  it('one of two who read the same, when both change it at once', async () => {
    await ok(201, create(hawser.admin, 'two'));
    for (let round = 0; round < 5; round += 1) {
      const headers = { 'If-Match': await etagOf(hawser.admin, of('two')) };
      const replies = await Promise.all(
        ['a', 'b', 'c', 'd'].map((who) =>
          patch(hawser.admin, 'two', { description: `${round} ${who}` }, headers),
        ),
      );
      const done = replies.filter(({ status }) => status === 200);
      expect(done, `round ${round}`).to.have.length(1);
      expect(replies.filter(({ status }) => status === 412).length).to.equal(3);
      const { description } = await ok(200, hawser.admin.get(of('two')));
      expect(description).to.equal(done[0]?.json.description);
    }
  });
});

describe('somebody deletes a configuration', () => {
  const hawser = started(startHawser);

  const remove = (name: string, client = hawser.admin) => client.delete(of(name));

  it('after which it is gone everywhere, and a start does not bring it back', async () => {
    await publishConfiguration(hawser.admin, 'gone', { '1.0.0': { [MAIN]: 'x' } });
    await ok(201, addVersion(hawser.admin, 'gone'));
    await ok(201, create(hawser.admin, 'stays'));
    const reply = await remove('gone');
    expect(reply.status, reply.text).to.equal(204);
    expect(reply.bytes).to.have.length(0);
    const isGone = async () => {
      const gets = [
        of('gone'),
        versionsOf('gone'),
        `${versionsOf('gone')}/1.0.0`,
        fileOf('gone', '1.0.0', MAIN),
        `${of('gone')}/settings`,
        `${of('gone')}/settings/retention`,
        `${of('gone')}/permissions`,
      ];
      for (const path of gets) await expectProblem(hawser.admin.get(path), 404, 'not_found', path);
      await expectProblem(remove('gone'), 404, 'not_found');
      await expectProblem(addVersion(hawser.admin, 'gone'), 404, 'not_found');
      await expectProblem(publish(hawser.admin, 'gone', '1.0.1'), 404, 'not_found');
      const list = await hawser.admin.get(CONFIGURATIONS);
      expect(list.json.map(({ name }: { name: string }) => name)).to.deep.equal(['stays']);
      expect(list.headers['x-total-count']).to.equal('1');
      expect(hawser.has('configurations/gone.git')).to.equal(false);
    };
    await isGone();
    const node = await hawser.registerNode('gone.example.org');
    const assign = () =>
      hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, { configurationName: 'gone' });
    await expectProblem(assign(), 404, 'not_found');
    await hawser.restart();
    await isGone();
    await expectProblem(assign(), 404, 'not_found');
  });

  it('whose name is free again, with nothing of the old one', async () => {
    const person = await makeUser(hawser, { username: 'heir', roles: ['Viewer'] });
    const old = await ok(201, create(hawser.admin, 'again', { description: 'old', version: '3.0.0' }));
    await grant(hawser, person, 'again', 'Manage');
    await ok(200, hawser.admin.put(`${of('again')}/settings`, { requireSemVer: false }));
    await ok(200, hawser.admin.put(`${of('again')}/settings/retention`, { keepVersions: 3 }));
    await ok(204, remove('again', person.client));
    const made = await ok(201, create(hawser.admin, 'again', {}, { files: { [MAIN]: 'new\n' } }));
    expect(made.id).to.not.equal(old.id);
    expect(made).to.include({ description: null, versionCount: 1, latestVersion: '1.0.0' });
    await expectProblem(person.client.get(of('again')), 404, 'not_found');
    expect(await ok(200, hawser.admin.get(`${of('again')}/settings`))).to.include({ isOverridden: false });
    expect((await ok(200, hawser.admin.get(`${of('again')}/settings/retention`))).keepVersions).to.equal(
      null,
    );
    expect((await hawser.admin.get(fileOf('again', '1.0.0', MAIN))).text).to.equal('new\n');
    await ok(204, remove('again'));
    await ok(201, create(hawser.admin, 'AGAIN'));
    await hawser.restart();
    expect((await ok(200, hawser.admin.get(of('AGAIN')))).versionCount).to.equal(1);
    await expectProblem(hawser.admin.get(of('again')), 404, 'not_found');
  });

  it('not while a node has it', async () => {
    await publishConfiguration(hawser.admin, 'assigned', { '1.0.0': { [MAIN]: 'x' } });
    const node = await hawser.registerNode('assigned.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: 'assigned' }));
    await expectProblem(remove('assigned'), 409, 'in_use');
    expect((await node.client.get(path)).text).to.equal('x');
    await hawser.restart();
    expect((await ok(200, hawser.admin.get(versionsOf('assigned')))).length).to.equal(1);
    await ok(204, hawser.admin.delete(path));
    await ok(204, remove('assigned'));
  });

  it('not while any version of a composite has it, draft or published, pinned or floating', async () => {
    await publishConfiguration(hawser.admin, 'other', { '1.0.0': { [MAIN]: 'x' } });
    const cases = [
      { activeVersion: null, published: false },
      { activeVersion: '1.0.0', published: false },
      { activeVersion: null, published: true },
      { activeVersion: '1.0.0', published: true },
    ];
    for (const [at, { activeVersion, published }] of cases.entries()) {
      const [child, composite] = [`child-${at}`, `composite-${at}`];
      await publishConfiguration(hawser.admin, child, { '1.0.0': { [MAIN]: 'x' } });
      await ok(201, hawser.admin.post(COMPOSITES, { name: composite }));
      const versions = `${COMPOSITES}/${composite}/versions`;
      await ok(201, hawser.admin.post(versions, { version: '1.0.0' }));
      const children = `${versions}/1.0.0/children`;
      await ok(201, hawser.admin.post(children, { childConfigurationName: child, activeVersion }));
      if (published) await ok(200, hawser.admin.put(`${versions}/1.0.0/publish`));
      // A version above it without the child changes nothing about the one that has it.
      await ok(201, hawser.admin.post(versions, { version: '2.0.0' }));
      await expectProblem(remove(child), 409, 'in_use', `${activeVersion} ${published}`);
      await ok(200, hawser.admin.get(of(child)));
      await ok(204, hawser.admin.delete(published ? `${COMPOSITES}/${composite}` : `${versions}/1.0.0`));
      await ok(204, remove(child));
    }
    await ok(204, remove('other'));
  });

  it('only as it was read, where it says so, and only once', async () => {
    await ok(201, create(hawser.admin, 'match'));
    const etag = await etagOf(hawser.admin, of('match'));
    await ok(200, patch(hawser.admin, 'match', { description: 'changed since' }));
    const removeIf = (validator: string) =>
      hawser.admin.call('DELETE', of('match'), { headers: { 'If-Match': validator } });
    await expectProblem(removeIf(etag), 412, 'precondition_failed');
    await ok(200, hawser.admin.get(of('match')));
    const current = await etagOf(hawser.admin, of('match'));
    const replies = await Promise.all([removeIf(current), removeIf(current), removeIf(current)]);
    expect(replies.filter(({ status }) => status === 204).length).to.equal(1);
    for (const { status, text } of replies.filter((reply) => reply.status !== 204)) {
      expect([404, 412], text).to.include(status);
    }
  });

  it('once, when ten delete it while others make it and add versions', async () => {
    for (let round = 0; round < 3; round += 1) {
      await ok(201, create(hawser.admin, 'storm'));
      const work = Array.from({ length: 10 }, () => [
        remove('storm'),
        addVersion(hawser.admin, 'storm'),
        hawser.admin.put(`${of('storm')}/settings`, { requireSemVer: true }),
        patch(hawser.admin, 'storm', { description: 'x' }),
        publish(hawser.admin, 'storm', '1.0.0'),
        hawser.admin.get(of('storm')),
        hawser.admin.get(`${versionsOf('storm')}/1.0.0`),
        hawser.admin.get(fileOf('storm', '1.0.0', MAIN)),
      ]).flat();
      const replies = await Promise.all(work);
      for (const { status, text } of replies) expect([200, 201, 204, 404, 409], text).to.include(status);
      expect(replies.filter(({ status }) => status === 204).length).to.equal(1);
      await expectProblem(hawser.admin.get(of('storm')), 404, 'not_found');
      expect(hawser.has('configurations/storm.git')).to.equal(false);
    }
    expect((await hawser.client().get('/health/ready')).json.checks.repositories).to.equal('Ok');
  });

  it('but never the one that somebody made of that name meanwhile', async () => {
    for (let round = 0; round < 3; round += 1) {
      await create(hawser.admin, 'phoenix');
      const work = Array.from({ length: 60 }, async (_, at) => {
        await sleep(at * 2);
        return at % 2
          ? remove('phoenix')
          : create(hawser.admin, 'phoenix', {}, { files: { [MAIN]: `${at}` } });
      });
      const replies = await Promise.all(work);
      for (const { status, text } of replies) expect([201, 204, 404, 409], text).to.include(status);
      const made = replies.filter(({ status }) => status === 201).length;
      const removed = replies.filter(({ status }) => status === 204).length;
      const isThere = (await hawser.admin.get(of('phoenix'))).status === 200;
      expect(1 + made - removed, 'each of them removed one').to.equal(isThere ? 1 : 0);
      expect(hawser.has('configurations/phoenix.git')).to.equal(isThere);
      if (isThere) await ok(200, hawser.admin.get(fileOf('phoenix', '1.0.0', MAIN)));
      if (isThere) await ok(204, remove('phoenix'));
    }
  });
});

describe('somebody deletes a version', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: 'one' } });
  });

  const versionOf = (version: string) => `${versionsOf('web')}/${version}`;
  const refs = () => hawser.git('configurations/web.git', 'for-each-ref', '--format=%(refname)').trim();

  it('which is a draft, and may use its name again', async () => {
    await ok(201, addVersion(hawser.admin, 'web', { version: '2.0.0' }, { files: { [MAIN]: 'old' } }));
    const reply = await hawser.admin.delete(versionOf('2.0.0'));
    expect(reply.status, reply.text).to.equal(204);
    for (const path of [versionOf('2.0.0'), fileOf('web', '2.0.0', MAIN)]) {
      await expectProblem(hawser.admin.get(path), 404, 'not_found', path);
    }
    await expectProblem(hawser.admin.delete(versionOf('2.0.0')), 404, 'not_found');
    await expectProblem(publish(hawser.admin, 'web', '2.0.0'), 404, 'not_found');
    expect(refs()).to.not.include('2.0.0');
    expect(await ok(200, hawser.admin.get(of('web')))).to.include({
      versionCount: 1,
      latestVersion: '1.0.0',
    });
    await ok(201, addVersion(hawser.admin, 'web', { version: '2.0.0' }, { files: { [MAIN]: 'new' } }));
    expect((await hawser.admin.get(fileOf('web', '2.0.0', MAIN))).text).to.equal('new');
    await ok(204, hawser.admin.delete(versionOf('2.0.0')));
  });

  it('also the only one, after which the configuration is empty and goes on', async () => {
    await ok(201, create(hawser.admin, 'empty', { entryPoint: 'a.yaml' }, { files: { 'a.yaml': 'x' } }));
    await ok(204, hawser.admin.delete(`${versionsOf('empty')}/1.0.0`));
    expect(await ok(200, hawser.admin.get(of('empty')))).to.include({
      versionCount: 0,
      latestVersion: null,
      latestPublishedVersion: null,
    });
    expect(await ok(200, hawser.admin.get(versionsOf('empty')))).to.deep.equal([]);
    const next = await ok(201, addVersion(hawser.admin, 'empty'));
    expect(next).to.include({ version: '1.0.0', entryPoint: MAIN });
  });

  it('but no published one, and none that is not there', async () => {
    await expectProblem(hawser.admin.delete(versionOf('1.0.0')), 409, 'published_version');
    expect((await hawser.admin.get(fileOf('web', '1.0.0', MAIN))).text).to.equal('one');
    for (const version of ['9.9.9', 'v1.0.0', '1.0.0+x', 'latest', '%2e%2e', 'main', 'draft%2F1.0.0']) {
      await expectProblem(hawser.admin.delete(versionOf(version)), 404, 'not_found', version);
    }
  });

  it('and publishes one, only as it was read, where it says so', async () => {
    await ok(201, addVersion(hawser.admin, 'web', { version: '4.0.0' }));
    const etag = await etagOf(hawser.admin, versionOf('4.0.0'));
    const headers = (validator: string) => ({ headers: { 'If-Match': validator } });
    const removeIf = (validator: string) =>
      hawser.admin.call('DELETE', versionOf('4.0.0'), headers(validator));
    const publishIf = (validator: string) =>
      hawser.admin.call('PUT', `${versionOf('4.0.0')}/publish`, headers(validator));
    await expectProblem(removeIf('"other"'), 412, 'precondition_failed');
    await expectProblem(publishIf('"other"'), 412, 'precondition_failed');
    expect(await ok(200, hawser.admin.get(versionOf('4.0.0')))).to.include({ status: 'Draft' });
    await ok(200, publishIf(etag));
    await expectProblem(publishIf(etag), 412, 'precondition_failed');
    await expectProblem(publishIf('*'), 409, 'already_published');
    await expectProblem(removeIf(etag), 412, 'precondition_failed');
    await ok(201, addVersion(hawser.admin, 'web', { version: '5.0.0' }));
    const draft = `${versionsOf('web')}/5.0.0`;
    const same = { headers: { 'If-Match': await etagOf(hawser.admin, draft) } };
    const replies = await Promise.all([
      hawser.admin.call('PUT', `${draft}/publish`, same),
      hawser.admin.call('DELETE', draft, same),
      hawser.admin.call('PUT', draft, { ...same, form: { files: { [MAIN]: 'other' } } }),
    ]);
    expect(replies.filter(({ status }) => status < 300).length).to.equal(1);
    expect(replies.filter(({ status }) => status === 412).length).to.equal(2);
  });
});
