// full: SQLite, PostgreSQL
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId, saveParameters } from '../support/parameter-files.ts';
import { named, pushFolder, withPort } from '../support/parameter-folders.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';
import { fileVersionOf } from '../support/withdrawals.ts';

const SCHEMA = 'parameters: {port: {type: int}, password: {type: secureString, defaultValue: none}}';
const MAIN_FILE = { [MAIN]: `$schema: x\n${SCHEMA}\nresources: []\n` };
const DEFAULT = 'parameters/web/Default.yaml';

describe('a folder of parameter files that is refused', () => {
  const hawser = startedForEach(startHawser);
  const push = (files: Record<string, string>, more = {}) => pushFolder(hawser.admin, files, more);
  const everything = async () => [
    hawser.git('parameters/web.git', 'for-each-ref'),
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/app/parameter-files`)),
    await ok(200, hawser.admin.get(`${SCOPE_TYPES}/${environment}/values?take=1000`)),
  ];
  let environment: string;
  let prod: string;

  beforeEach(async () => {
    await publishConfiguration(hawser.admin, 'app', { '1.0.0': MAIN_FILE });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': MAIN_FILE });
    environment = await createScopeType(hawser, 'Environment', { valueMode: 'Restricted' });
    prod = await createScopeValue(hawser, environment, 'prod');
    await createScopeValue(hawser, environment, 'dev');
    await saveParameters(hawser, { configuration: 'web', content: withPort(1) });
  });

  /** @param paths those in the errors */
  async function expectRefused(files: Record<string, string>, status: number, code: string, paths: string[]) {
    const before = await everything();
    const good = {
      'parameters/app/Default.yaml': withPort(7),
      'parameters/web/Environment/dev.yaml': withPort(7),
    };
    const { json: problem } = await expectProblem(
      push({ ...good, ...files }, { publish: true }),
      status,
      code,
    );
    const told = problem.errors.map(({ path }: { path: string }) => path);
    expect(told, JSON.stringify(files)).to.deep.equal(paths);
    expect(await everything(), JSON.stringify(files)).to.deep.equal(before);
  }

  it('makes nothing, and its errors begin with the path of the file', async () => {
    for (const path of [
      'web/Default.yaml',
      'parameters/Default.yaml',
      'parameters/web/Environment.yaml',
      'parameters/web/Environment/prod.json',
      'parameters/web/Environment/prod/x.yaml',
      'parameters/web/default.yaml',
      'parameters/web/Environment/.yaml',
      'README.md',
    ])
      await expectRefused({ [path]: '' }, 400, 'validation_failed', [`/${path}`]);
    const prodFile = 'parameters/web/Environment/prod.yaml';
    await expectRefused({ 'parameters/none/Default.yaml': withPort(1) }, 404, 'not_found', [
      '/parameters/none/Default.yaml',
    ]);
    await expectRefused({ 'parameters/web/Site/x.yaml': withPort(1) }, 400, 'validation_failed', [
      '/parameters/web/Site/x.yaml',
    ]);
    await expectRefused({ 'parameters/web/Environment/test.yaml': withPort(1) }, 400, 'unknown_scope_value', [
      '/parameters/web/Environment/test.yaml',
    ]);
    await expectRefused({ 'parameters/web/Node/x.example.org.yaml': withPort(1) }, 400, 'unknown_node', [
      '/parameters/web/Node/x.example.org.yaml',
    ]);
    await expectRefused({ 'parameters/web/Default/x.yaml': withPort(1) }, 400, 'validation_failed', [
      '/parameters/web/Default/x.yaml',
    ]);
    await expectRefused({ [prodFile]: 'a: [1\n' }, 400, 'validation_failed', [`/${prodFile}`]);
    await expectRefused({ [prodFile]: 'parameters: {port: 007}\n' }, 400, 'validation_failed', [
      `/${prodFile}/parameters/port`,
    ]);
    await expectRefused({ [prodFile]: 'parameters: {port: x}\n' }, 400, 'validation_failed', [
      `/${prodFile}/parameters/port`,
    ]);
    await expectRefused(
      { [prodFile]: 'parameters: {password: "ENC[aaaaaaaaaaaaaaaa,AAAA]"}\n' },
      400,
      'secret_unreadable',
      [`/${prodFile}/parameters/password`],
    );
    await expectRefused({ 'parameters/web/Environment/prod.passthrough': 'x' }, 400, 'validation_failed', [
      '/parameters/web/Environment/prod.passthrough',
    ]);
    await expectRefused({ 'parameters/web/Environment/dev.passthrough': '' }, 400, 'validation_failed', [
      '/parameters/web/Environment/dev.passthrough',
    ]);
    await expectRefused(
      { [DEFAULT]: 'parameters: {port: x}\n', [prodFile]: 'parameters: {port: y}\n' },
      400,
      'validation_failed',
      [`/${DEFAULT}/parameters/port`, `/${prodFile}/parameters/port`],
    );
    await ok(200, hawser.admin.call('PATCH', `${SCOPE_TYPES}/${NODE_ID}/disable`));
    const own = 'parameters/web/Node/x.example.org.yaml';
    await expectRefused({ [own]: withPort(1) }, 409, 'scope_type_disabled', [`/${own}`]);
  });

  it('is an empty one, or one whose query or fields are wrong', async () => {
    await expectProblem(push({}), 400, 'validation_failed');
    await expectProblem(push({ [DEFAULT]: withPort(2) }, { publish: 'perhaps' }), 400, 'validation_failed');
    const path = '/api/v1/configurations/parameter-folder';
    const form = { fields: { version: '1.0.0' }, files: { [DEFAULT]: withPort(2) } };
    await expectProblem(hawser.admin.upload(path, form), 400, 'validation_failed');
    expect(await everything()).to.deep.equal(await everything());
  });

  it('takes Modify on each file: 404 below Read, 403 below Modify', async () => {
    const files = { [DEFAULT]: withPort(2), 'parameters/web/Environment/prod.yaml': withPort(3) };
    const before = await everything();
    const stranger = await makeUser(hawser, { username: 'stranger' });
    const refused = async (who: Person, status: number, code: string, at: string) => {
      const { json: problem } = await expectProblem(pushFolder(who.client, files), status, code);
      expect(problem.errors.map(({ path }: { path: string }) => path)).to.deep.equal([at]);
      expect(await everything()).to.deep.equal(before);
    };
    await refused(stranger, 404, 'not_found', `/${DEFAULT}`);
    const reader = await makeUser(hawser, {
      username: 'reader',
      grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
    });
    await refused(reader, 403, 'forbidden', `/${DEFAULT}`);
    const writer = await makeUser(hawser, {
      username: 'writer',
      grants: [{ on: 'configuration', name: 'web', level: 'Modify' }],
    });
    const mark = {
      principalType: 'User',
      principalId: reader.userId,
      level: 'Modify',
      scopeTypeId: environment,
    };
    const grant = { ...mark, scopeValueId: prod, restricted: true };
    await ok(204, hawser.admin.put(`${CONFIGURATIONS}/web/parameters/permissions`, grant));
    await refused(writer, 404, 'not_found', '/parameters/web/Environment/prod.yaml');
    await ok(200, pushFolder(writer.client, { [DEFAULT]: withPort(2) }));
    const own = { 'parameters/web/Environment/prod.yaml': withPort(3) };
    const [file] = await ok(200, pushFolder(reader.client, own));
    expect(file).to.include({ scopeValue: 'prod', createdBy: 'reader' });
  });

  it('ends publishing at the first that is refused, and leaves the rest as drafts', async () => {
    const draft =
      '$schema: x\nparameters: {port: {type: int}, tls: {type: bool, defaultValue: false}}\nresources: []\n';
    await ok(
      201,
      hawser.admin.upload(`${CONFIGURATIONS}/web/versions`, {
        fields: { version: '1.1.0' },
        files: { [MAIN]: draft },
      }),
    );
    const files = {
      [DEFAULT]: withPort(2),
      'parameters/web/Environment/dev.yaml': 'parameters: {tls: true}\n',
      'parameters/web/Environment/prod.yaml': withPort(3),
    };
    const { json: problem } = await expectProblem(push(files, { publish: true }), 409, 'validation_failed');
    const at = '/parameters/web/Environment/dev.yaml';
    expect(problem.errors.map(({ path }: { path: string }) => path)).to.deep.equal([`${at}/parameters/tls`]);
    const list = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web/parameter-files`));
    expect(named(list)).to.deep.equal([
      'Default 1.0.1 Published',
      'Default 1.0.0 Published',
      'Environment/dev 1.0.0 Draft',
      'Environment/prod 1.0.0 Draft',
    ]);
  });

  it('may make drafts during a freeze, and publish none', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await ok(200, hawser.admin.put('/api/v1/settings/freeze', { until, reason: 'the night' }));
    const before = await everything();
    await expectProblem(push({ [DEFAULT]: withPort(2) }, { publish: true }), 423, 'frozen');
    expect(await everything()).to.deep.equal(before);
    expect(named(await ok(200, push({ [DEFAULT]: withPort(2) })))).to.deep.equal(['Default 1.0.1 Draft']);
  });

  it('is none where two push the same at once, and one gets the drafts of the other', async () => {
    const files = {
      [DEFAULT]: withPort(2),
      'parameters/web/Environment/prod.yaml': withPort(3),
      'parameters/app/Default.yaml': withPort(4),
    };
    const [one, other] = await Promise.all([ok(200, push(files)), ok(200, push(files))]);
    expect(named(one)).to.deep.equal(named(other));
    const [first, second] = await Promise.all([
      push(files, { publish: true }),
      push(files, { publish: true }),
    ]);
    expect([first.status, second.status]).to.have.members(
      [first.status, second.status].includes(204) ? [200, 204] : [200, 200],
    );
    const all = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web/parameter-files`));
    expect(named(all)).to.deep.equal([
      'Default 1.0.1 Published',
      'Default 1.0.0 Published',
      'Environment/prod 1.0.0 Published',
    ]);
  });

  itOnSqlite('takes back what it made where another configuration cannot be written', async () => {
    await ok(200, push({ 'parameters/app/Default.yaml': withPort(1) }, { publish: true }));
    // The loss of a repository of parameters is found under its lock alone.
    await hawser.restart();
    rmSync(join(hawser.reposDir, 'parameters/web.git'), { recursive: true });
    const files = { 'parameters/app/Default.yaml': withPort(2), [DEFAULT]: withPort(2) };
    await expectProblem(push(files), 500, 'repository_missing');
    const left = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/app/parameter-files`));
    expect(named(left)).to.deep.equal(['Default 1.0.0 Published']);
  });

  it('leaves a draft alone that somebody has changed before it is published', async () => {
    const files = { [DEFAULT]: withPort(2) };
    const [draft] = await ok(200, push(files));
    const of = { configurationId: await configurationId(hawser.admin, 'web'), version: draft.version };
    await saveParameters(hawser, {
      configuration: 'web',
      version: draft.version,
      content: withPort(8),
      publish: false,
    });
    expect(named(await ok(200, push(files, { publish: true })))).to.deep.equal(['Default 1.0.2 Published']);
    expect((await ok(200, hawser.admin.get(fileVersionOf(of)))).content).to.equal(withPort(8));
  });
});
