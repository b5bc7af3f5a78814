// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

describe("the provenance of a node's parameters", () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let environment: string;

  before(async () => {
    environment = await createScopeType(hawser, 'Environment');
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
      ...['mergedParameters', 'provenance', 'unset'],
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
      version: '1.2.0',
      commit: outside.git('rev-parse', 'Environment/prod/v1.2.0^{commit}'),
      author: 'admin',
      value: 'warn',
      overriddenValues: [{ scopeTypeName: 'Default', scopeValue: null, precedence: 0, value: 'info' }],
      ...{ merge: null, mergedFrom: null, text: null },
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
        version: '1.1.0',
        value: 2,
      });
    });
  });

  it('names who last changed a value in its scope, and not who published the file', async () => {
    await publishConfiguration(hawser.admin, 'shared', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    await assign(hawser, node, 'shared');
    const id = await configurationId(hawser.admin, 'shared');
    const people = await Promise.all(
      ['ann', 'bob'].map((username) =>
        makeUser(hawser, { username, permissions: ['parameters.admin-override'] }),
      ),
    );
    const [ann, bob] = people as [Person, Person];
    const path = `/api/v1/parameters/${DEFAULT_ID}/${id}`;
    const save = async (who: Person, version: string, content: string) => {
      await ok(201, who.put(path, { version, content }));
      await ok(200, who.put(`${path}/versions/${version}/publish`));
    };
    const origins = async () => {
      const { provenance } = await ok(200, read());
      return Object.fromEntries(
        Object.entries(provenance as Record<string, Record<string, string>>).map(([pointer, leaf]) => [
          pointer.replace('/parameters/', ''),
          `${leaf['author']} ${leaf['version']} in ${leaf['resolvedVersion']}`,
        ]),
      );
    };
    await save(ann, '1.0.0', 'parameters: {port: 80, tls: {min: "1.2"}, list: [1, 2]}\n');
    await save(bob, '1.0.1', '# tidied\nparameters:\n  list: [1, 2]\n  tls:\n    min: "1.2"\n  port: 80\n');
    expect(await origins()).to.deep.equal({
      ...{ list: 'ann 1.0.0 in 1.0.1', 'tls/min': 'ann 1.0.0 in 1.0.1', port: 'ann 1.0.0 in 1.0.1' },
    });
    await save(bob, '1.0.2', 'parameters: {port: 443, tls: {min: 1.2}, list: [1, 2], new: ~}\n');
    await save(ann, '1.0.3', 'parameters: {port: 80, tls: {min: 1.2}, list: [2, 1], new: ~}\n');
    expect(await origins()).to.deep.equal({
      ...{ port: 'ann 1.0.3 in 1.0.3', 'tls/min': 'bob 1.0.2 in 1.0.3' },
      ...{ list: 'ann 1.0.3 in 1.0.3', new: 'bob 1.0.2 in 1.0.3' },
    });
    const { provenance } = await ok(200, read());
    const outside = new Outside(hawser, 'shared', 'parameters');
    expect(provenance['/parameters/new'].commit).to.equal(
      outside.git('rev-parse', 'Default/v1.0.2^{commit}'),
    );
    const [line] = await ok(200, hawser.admin.get(`${path}/versions/1.0.3/blame`));
    expect(line).to.include({ startLine: 1, lineCount: 1, version: '1.0.3', author: 'ann' });
    const multi = await ok(200, hawser.admin.get(`${path}/versions/1.0.1/blame?take=1`));
    expect(multi).to.have.length(1);
    await ok(404, hawser.admin.get(`${path}/versions/9.0.0/blame`));
  });

  it('agrees with git blame where each value has a line of its own', async () => {
    await publishConfiguration(hawser.admin, 'lines', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await assign(hawser, node, 'lines');
    const id = await configurationId(hawser.admin, 'lines');
    for (const [version, a, b, c] of [
      ...[['1.0.0', 1, 1, 1] as const, ['1.0.1', 1, 2, 1] as const, ['1.1.0', 3, 2, 1] as const],
      // It comes from 1.0.1, and not from what was published before it.
      ...[['1.0.2', 1, 2, 4] as const, ['1.2.0', 3, 5, 1] as const],
    ]) {
      const content = `parameters:\n  a: ${a}\n  b: ${b}\n  c: ${c}\n`;
      await saveParameters(hawser, { configuration: 'lines', ...PROD, version, content });
    }
    const path = `/api/v1/parameters/${environment}/${id}/versions`;
    const { provenance } = await ok(200, read());
    const blamed: { startLine: number; lineCount: number; commit: string; version: string }[] = await ok(
      200,
      hawser.admin.get(`${path}/1.2.0/blame?scopeValue=prod`),
    );
    for (const [at, name] of ['a', 'b', 'c'].entries()) {
      const line = blamed.find(({ startLine, lineCount }) => at + 2 < startLine + lineCount);
      const { commit, version } = provenance[`/parameters/${name}`];
      expect({ commit, version }, name).to.deep.equal({ commit: line?.commit, version: line?.version });
    }
  });

  it('follows a history of many versions as a small model says', async () => {
    await publishConfiguration(hawser.admin, 'long', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await assign(hawser, node, 'long');
    const lines = ['a', 'b', 'c', 'd', 'e'];
    const values = lines.map(() => 0);
    const expected: string[] = [];
    for (let at = 0; at < 40; at += 1) {
      const version = `1.0.${at}`;
      for (const index of at === 0 ? lines.keys() : [(at * 7) % 3, (at * at) % 5]) {
        values[index] = at + 1;
        expected[index] = version;
      }
      const content = `parameters:\n${lines.map((name, index) => `  ${name}: ${values[index]}\n`).join('')}`;
      await saveParameters(hawser, { configuration: 'long', version, content });
      // What was found before is built upon.
      if (at === 20) await ok(200, read());
    }
    const { provenance } = await ok(200, read());
    expect(lines.map((name) => provenance[`/parameters/${name}`].version)).to.deep.equal(expected);
  });

  it('is empty where no scope gives anything', async () => {
    await start('nothing');
    expect(await ok(200, read())).to.deep.include({ mergedParameters: '{}\n', provenance: {}, problems: [] });
  });
});
