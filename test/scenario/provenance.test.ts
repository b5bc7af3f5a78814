// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

describe("the provenance of a node's parameters", () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    const environment = await createScopeType(hawser, 'Environment');
    const site = await createScopeType(hawser, 'Site');
    node = await hawser.registerNode('web-01.example.org');
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, environment, 'prod'));
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, site, 'berlin'));
  });

  async function start(name: string, document = '$schema: x\nresources: []\n') {
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: document } });
    await assign(hawser, node, name);
    return (wish: Omit<Parameters<typeof saveParameters>[1], 'configuration'>) =>
      saveParameters(hawser, { configuration: name, ...wish });
  }

  const PROD = { scopeType: 'Environment', value: 'prod' };
  const BERLIN = { scopeType: 'Site', value: 'berlin' };
  const read = () => hawser.admin.get(`/api/v1/nodes/${node.nodeId}/parameters/provenance`);
  /** Each leaf's value, scope, and what that hides. */
  const short = (provenance: Record<string, Record<string, unknown>>) =>
    Object.entries(provenance).map(([pointer, leaf]) => [
      pointer,
      leaf['value'],
      leaf['scopeTypeName'],
      (leaf['overriddenValues'] as Record<string, unknown>[]).map(({ scopeTypeName, value }) => [
        scopeTypeName,
        value,
      ]),
    ]);

  it('names for every leaf the scope, version, commit and author of its value, and what that hides', async () => {
    const save = await start('web');
    const since = hawser.clock.now() - 1_000;
    await save({ content: 'parameters: {port: 80, log: {level: info, keep: 7}, list: [1, 2], none: {}}' });
    await save({ ...PROD, version: '1.2.0', content: 'parameters: {port: 443, log: {level: warn}}' });
    await save({ ...BERLIN, content: 'parameters: {port: 8443, list: [3]}' });
    const answer = await ok(200, read());
    expect(Object.keys(answer)).to.deep.equal([
      ...['nodeId', 'configurationId', 'configurationVersion', 'prereleaseChannel', 'problems'],
      ...['mergedParameters', 'provenance'],
    ]);
    expect(answer).to.include({
      nodeId: node.nodeId,
      configurationId: await configurationId(hawser.admin, 'web'),
      configurationVersion: '1.0.0',
      prereleaseChannel: null,
      mergedParameters: await pullParameters(node),
    });
    expect(short(answer.provenance)).to.deep.equal([
      [
        '/parameters/port',
        8443,
        'Site',
        [
          ['Environment', 443],
          ['Default', 80],
        ],
      ],
      ['/parameters/log/level', 'warn', 'Environment', [['Default', 'info']]],
      ['/parameters/log/keep', 7, 'Default', []],
      ['/parameters/list', [3], 'Site', [['Default', [1, 2]]]],
      ['/parameters/none', {}, 'Default', []],
    ]);
    const { committedAt, ...leaf } = answer.provenance['/parameters/log/level'];
    const outside = new Outside(hawser, 'web', 'parameters');
    expect(leaf).to.deep.equal({
      scopeTypeName: 'Environment',
      scopeValue: 'prod',
      precedence: 1,
      resolvedVersion: '1.2.0',
      isPrerelease: false,
      commit: outside.git('rev-parse', 'Environment/prod/v1.2.0^{commit}'),
      author: 'admin',
      value: 'warn',
      overriddenValues: [{ scopeTypeName: 'Default', scopeValue: null, precedence: 0, value: 'info' }],
    });
    expect(committedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(committedAt)).to.be.within(since, hawser.clock.now());
  });

  it('shows values exactly, whatever their size, and keys whatever their name', async () => {
    const save = await start('exact');
    await save({
      content: 'parameters: {big: 18446744073709551615, float: 1.0, "a/b~c": {__proto__: 1, constructor: ~}}',
    });
    await save({ ...PROD, content: 'parameters: {big: -9007199254740993}' });
    const reply = await read();
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(reply.text).to.match(/"\/parameters\/big":\{[^{]*"value":-9007199254740993,"overriddenValues":/);
    expect(reply.text).to.include('"value":18446744073709551615}');
    expect(reply.text).to.match(/"\/parameters\/float":\{[^{]*"value":1\.0,/);
    expect(reply.text).to.match(/"\/parameters\/a~1b~0c\/__proto__":\{[^{]*"value":1,/);
    expect(reply.text).to.match(/"\/parameters\/a~1b~0c\/constructor":\{[^{]*"value":null,/);
    const etag = String(reply.headers['etag']);
    const known = { 'If-None-Match': etag };
    const path = `/api/v1/nodes/${node.nodeId}/parameters/provenance`;
    expect((await hawser.admin.get(path, known)).status).to.equal(304);
    expect((await hawser.admin.call('HEAD', path)).headers['etag']).to.equal(etag);
    await save({ ...BERLIN, content: 'parameters: {float: 1.00}' });
    expect((await hawser.admin.get(path, known)).status).to.equal(200);
  });

  it('shows no value of a secure parameter, in no scope and not in the log', async () => {
    const save = await start(
      'secure',
      `$schema: x
parameters:
  password: {type: secureString}
  login: {type: secureobject, defaultValue: {}}
  user: {type: string}
resources: []
`,
    );
    await save({
      content: 'parameters: {password: hidden-1, login: {name: hidden-2, more: {x: hidden-3}}, user: shown}',
    });
    await save({ ...PROD, content: 'parameters: {password: hidden-4, login: {name: hidden-5}}' });
    expect(await pullParameters(node)).to.include('password: hidden-4');
    const reply = await read();
    const answer = await ok(200, reply);
    expect(answer.mergedParameters).to.equal(
      'parameters:\n  password: "<redacted>"\n  login: "<redacted>"\n  user: shown\n',
    );
    const redacted = '<redacted>';
    expect(short(answer.provenance)).to.deep.equal([
      ['/parameters/password', redacted, 'Environment', [['Default', redacted]]],
      ['/parameters/login/name', redacted, 'Environment', [['Default', redacted]]],
      ['/parameters/login/more/x', redacted, 'Default', []],
      ['/parameters/user', 'shown', 'Default', []],
    ]);
    const resolution = await hawser.admin.get(`/api/v1/nodes/${node.nodeId}/parameters/resolution`);
    for (const text of [reply.text, resolution.text, hawser.log()]) expect(text).to.not.include('hidden-');
  });

  it('keeps secret what was secure in the lower major that a file was written for', async () => {
    const save = await start(
      'former',
      '$schema: x\nparameters:\n  old: {type: secureString}\nresources: []\n',
    );
    await save({ content: 'parameters: {old: hidden}' });
    const next = {
      '2.0.0': { [MAIN]: '$schema: x\nparameters:\n  new: {type: int, defaultValue: 1}\nresources: []\n' },
    };
    const form = { fields: { version: '2.0.0' }, files: next['2.0.0'] };
    await ok(201, hawser.admin.upload('/api/v1/configurations/former/versions', form));
    await ok(200, hawser.admin.put('/api/v1/configurations/former/versions/2.0.0/publish'));
    const answer = await ok(200, read());
    expect(answer.configurationVersion).to.equal('2.0.0');
    expect(answer.problems.map((problem: { code: string }) => problem.code)).to.deep.equal([
      'unknown_parameter',
    ]);
    expect(answer.provenance['/parameters/old'].value).to.equal('<redacted>');
    expect(answer.mergedParameters).to.not.include('hidden');
  });

  itOnSqlite('shows no value at all where nobody can tell which are secure', async () => {
    const save = await start('unreadable');
    await save({ content: 'parameters: {password: hidden}\nmetadata: shown\n' });
    const outside = new Outside(hawser, 'unreadable');
    outside.tag('1.1.0', [
      outside.file(MAIN, '$schema: x\nparameters: {password: {type: securestrin}}\nresources: []\n'),
    ]);
    await eventually(async () => expect((await ok(200, read())).configurationVersion).to.equal('1.1.0'));
    const answer = await ok(200, read());
    expect(answer.mergedParameters).to.equal('parameters:\n  password: "<redacted>"\nmetadata: shown\n');
    expect(answer.provenance['/parameters/password'].value).to.equal('<redacted>');
  });

  itOnSqlite('names Git authors of what stock git has tagged', async () => {
    const save = await start('outside');
    await save({ content: 'parameters: {a: 1}' });
    expect(await pullParameters(node)).to.equal('parameters:\n  a: 1\n');
    const outside = new Outside(hawser, 'outside', 'parameters');
    const commit = outside.commit([outside.file('parameters.yaml', 'parameters: {a: 2}\n')]);
    outside.git('tag', '-a', 'Default/v1.1.0', '-m', 'By hand', commit);
    await eventually(async () => {
      const { provenance } = await ok(200, read());
      expect(provenance['/parameters/a']).to.include({
        author: 'Carol',
        commit,
        resolvedVersion: '1.1.0',
        value: 2,
      });
    });
  });

  it('is empty where no scope gives anything', async () => {
    await start('nothing');
    expect(await ok(200, read())).to.deep.include({ mergedParameters: '{}\n', provenance: {}, problems: [] });
  });
});
