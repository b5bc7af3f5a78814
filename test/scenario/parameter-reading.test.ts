// everyday: SQLite
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { configurationId, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, DEFAULT_ID, NODE_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

interface File {
  scopeTypeName: string;
  scopeValue: string | null;
  version: string;
  status: string;
}

describe('parameter files are read', () => {
  const hawser = started(startHawser);
  let environment: string;
  let web: string;

  const versionPath = (type: string, version: string, value?: string) =>
    `/api/v1/parameters/${type}/${web}/versions/${version}${value === undefined ? '' : `?scopeValue=${value}`}`;
  const save = (scopeType: string, value: string | undefined, version: string, publish: boolean) =>
    saveParameters(hawser, {
      ...{ configuration: 'web', scopeType, version, publish },
      ...(value === undefined ? {} : { value }),
      content: `parameters: {port: 1} # ${version}\n`,
    });
  const list = async (query = '') =>
    ok(200, hawser.admin.get(`/api/v1/configurations/web/parameter-files${query}`));
  const labels = async (query = '') =>
    (await list(query)).map(({ scopeTypeName, scopeValue, version, status }: File) =>
      [scopeTypeName, scopeValue ?? '-', version, status].join(' '),
    );

  const ALL = [
    'Default - 1.10.0 Draft',
    'Default - 1.2.0 Published',
    'Environment prod 2.0.0-rc.1 Draft',
    'Environment prod 1.0.0 Published',
    'Environment test 1.0.0 Draft',
    'Node a.example.org 1.0.0 Published',
    'Node b.example.org 1.0.0 Draft',
  ];

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    web = await configurationId(hawser.admin, 'web');
    environment = await createScopeType(hawser, 'Environment');
    for (const name of ['b', 'a']) await hawser.registerNode(`${name}.example.org`);
    await save('Node', 'b.example.org', '1.0.0', false);
    await save('Node', 'a.example.org', '1.0.0', true);
    await save('Environment', 'test', '1.0.0', false);
    await save('Environment', 'prod', '1.0.0', true);
    await save('Environment', 'prod', '2.0.0-rc.1', false);
    await save('Default', undefined, '1.2.0', true);
    await save('Default', undefined, '1.10.0', false);
  });

  describe('one version at a time', () => {
    it('with their content, drafts and published ones, as the list of versions shows them', async () => {
      for (const [type, version, value] of [
        [DEFAULT_ID, '1.2.0'],
        [DEFAULT_ID, '1.10.0'],
        [environment, '2.0.0-rc.1', 'prod'],
        [environment, '2.0.0-rc.1', 'PROD'],
        [NODE_ID, '1.0.0', 'A.example.org'],
      ] as const) {
        const reply = await hawser.admin.get(versionPath(type, version, value));
        const { content, access: _access, ...file } = await ok(200, reply);
        expect(content).to.equal(`parameters: {port: 1} # ${version}\n`);
        expect(file.checksum).to.equal(createHash('sha256').update(content).digest('hex'));
        expect(await list('?take=1000')).to.deep.include(file);
        const known = { 'If-None-Match': String(reply.headers['etag']) };
        expect((await hawser.admin.get(versionPath(type, version, value), known)).status).to.equal(304);
      }
    });

    it('with null as the content of a scope that is skipped', async () => {
      await saveParameters(hawser, {
        ...{ configuration: 'web', scopeType: 'Environment', value: 'prod', version: '0.1.0' },
        ...{ content: null, publish: false },
      });
      const file = await ok(200, hawser.admin.get(versionPath(environment, '0.1.0', 'prod')));
      expect(file).to.include({ content: null, contentType: null, isPassthrough: true });
      await ok(204, hawser.admin.delete(versionPath(environment, '0.1.0', 'prod')));
    });

    it('and 404 where there is none', async () => {
      for (const path of [
        versionPath(environment, '9.9.9', 'prod'),
        versionPath(environment, '1.0.0', 'none'),
        versionPath(environment, 'v1.0.0', 'prod'),
        versionPath(DEFAULT_ID, '1.0.0'),
        versionPath(web, '1.0.0'),
        versionPath('Environment', '1.0.0', 'prod'),
      ])
        await expectProblem(hawser.admin.get(path), 404, 'not_found', path);
      await expectInvalid(hawser.admin.get(versionPath(environment, '1.0.0')));
      await expectInvalid(hawser.admin.get(versionPath(DEFAULT_ID, '1.2.0', 'x')));
    });

    it('and the ETag holds for publishing and deleting that very version', async () => {
      const path = versionPath(environment, '3.0.0', 'prod');
      const publishPath = path.replace('?', '/publish?');
      await save('Environment', 'prod', '3.0.0', false);
      const { etag } = (await hawser.admin.get(path)).headers;
      const content = 'parameters: {port: 2}\n';
      const set = `/api/v1/parameters/${environment}/${web}`;
      await ok(200, hawser.admin.put(set, { version: '3.0.0', scopeValue: 'prod', content }));
      const stale = hawser.admin.with({ 'If-Match': String(etag) });
      await expectProblem(stale.put(publishPath), 412, 'precondition_failed');
      await expectProblem(stale.delete(path), 412, 'precondition_failed');
      const fresh = async () =>
        hawser.admin.with({ 'If-Match': String((await hawser.admin.get(path)).headers['etag']) });
      await ok(204, (await fresh()).delete(path));
      await save('Environment', 'prod', '3.0.0', false);
      expect(await ok(200, (await fresh()).put(publishPath))).to.include({ status: 'Published' });
      await expectProblem((await fresh()).delete(path), 409, 'published_version');
    });
  });

  it('a draft that somebody else has saved meanwhile is not overwritten with the ETag of before', async () => {
    await save('Environment', 'prod', '4.0.0', false);
    await save('Default', undefined, '4.0.0', false);
    for (const [type, scopeValue] of [[environment, 'prod'] as const, [DEFAULT_ID, null] as const]) {
      const path = versionPath(type, '4.0.0', scopeValue ?? undefined);
      const put = async (etag: unknown, content: string) =>
        hawser.admin
          .with({ 'If-Match': String(etag) })
          .put(`/api/v1/parameters/${type}/${web}`, { version: '4.0.0', scopeValue, content });
      const { etag } = (await hawser.admin.get(path)).headers;
      await ok(200, put(etag, 'parameters: {port: 2}\n'));
      await expectProblem(put(etag, 'parameters: {port: 3}\n'), 412, 'precondition_failed', path);
      expect((await ok(200, hawser.admin.get(path))).content).to.equal('parameters: {port: 2}\n');
      await ok(204, hawser.admin.delete(path));
      await expectProblem(put('*', 'parameters: {}\n'), 412, 'precondition_failed', path);
    }
  });

  describe('all at once', () => {
    const withThree = ALL.toSpliced(2, 0, 'Environment prod 3.0.0 Published');

    it('by precedence, value and version, the highest version first', async () => {
      expect(await labels()).to.deep.equal(withThree);
    });

    it('by scope type, value and status, whatever their case', async () => {
      expect(await labels('?scopeTypeName=environment')).to.deep.equal(withThree.slice(2, 6));
      expect(await labels('?scopeTypeName=Default&scopeValue=prod')).to.deep.equal([]);
      expect(await labels('?scopeValue=PROD')).to.deep.equal(withThree.slice(2, 5));
      expect(await labels('?status=draft')).to.deep.equal(withThree.filter((each) => /Draft$/.test(each)));
      expect(await labels('?status=PUBLISHED&scopeTypeName=Node')).to.deep.equal([
        'Node a.example.org 1.0.0 Published',
      ]);
      expect(await labels('?scopeTypeName=None')).to.deep.equal([]);
      await expectInvalid(hawser.admin.get('/api/v1/configurations/web/parameter-files?status=other'));
    });

    it('by pages, which together are the whole', async () => {
      const pages: string[] = [];
      for (let skip = 0; skip < withThree.length; skip += 3) {
        const path = `/api/v1/configurations/web/parameter-files?take=3&skip=${skip}`;
        const reply = await hawser.admin.get(path);
        expect(reply.headers['x-total-count']).to.equal(String(withThree.length));
        expect('link' in reply.headers).to.equal(skip + 3 < withThree.length);
        pages.push(...(await labels(`?take=3&skip=${skip}`)));
      }
      expect(pages).to.deep.equal(withThree);
      expect(await labels('?skip=100')).to.deep.equal([]);
    });

    itOnSqlite(
      'with those of a value that nobody has defined, and without those of a scope type that is gone',
      async () => {
        const gone = new Outside(hawser, 'web', 'parameters');
        const tree = gone.tree(gone.folderOf('x', gone.file('parameters.yaml', 'parameters: {}\n')));
        const commit = gone.git('commit-tree', tree, '-m', 'Of a scope type that was deleted');
        gone.git('tag', '-a', 'Removed/x/v1.0.0', '-m', 'Removed/x 1.0.0', commit);
        gone.git('tag', '-a', 'Environment/x/v1.0.0', '-m', 'Environment/x 1.0.0', commit);
        await eventually(async () => expect(await labels()).to.include('Environment x 1.0.0 Published'));
        expect((await labels()).join()).to.not.include('Removed');
      },
    );

    it('none of a configuration without parameters, and 404 to who may not read them', async () => {
      await publishConfiguration(hawser.admin, 'bare', {
        '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
      });
      expect(await ok(200, hawser.admin.get('/api/v1/configurations/bare/parameter-files'))).to.deep.equal(
        [],
      );
      await expectProblem(hawser.admin.get('/api/v1/configurations/no/parameter-files'), 404, 'not_found');
      const nobody = await makeUser(hawser, { username: 'nobody' });
      await expectProblem(nobody.get('/api/v1/configurations/web/parameter-files'), 404, 'not_found');
    });
  });
});
