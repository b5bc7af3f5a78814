// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { type Wish as Child, publishWithChildren } from '../support/composites.ts';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  assign,
  configurationPath,
  poll,
  pullBundle,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

describe('a node pulls the parameters of its scopes', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  const types: Record<string, string> = {};
  const values: Record<string, string> = {};

  before(async () => {
    for (const [type, value] of [
      ['Environment', 'prod'],
      ['Site', 'berlin'],
    ] as const) {
      types[type] = await createScopeType(hawser, type);
      values[value] = await createScopeValue(hawser, types[type], value);
    }
    node = await hawser.registerNode('web-01.example.org');
    for (const value of Object.values(values)) await tagNode(hawser, node.nodeId, value);
  });

  /** A configuration of these versions, assigned to the node. */
  async function start(name: string, versions: string[] = ['1.0.0'], more: Record<string, unknown> = {}) {
    const files = Object.fromEntries(versions.map((version) => [version, FILES]));
    await publishConfiguration(hawser.admin, name, files);
    await assign(hawser, node, name, more);
    return (wish: Omit<Parameters<typeof saveParameters>[1], 'configuration'>) =>
      saveParameters(hawser, { configuration: name, ...wish });
  }

  it('merged in their order: Default, the tagged values by precedence, then the node itself', async () => {
    const save = await start('merged');
    expect(await pullParameters(node)).to.equal(null);
    await save({
      scopeType: 'Node',
      value: node.fqdn,
      content: 'parameters: {who: node, log: {level: debug}}',
    });
    expect(await pullParameters(node)).to.equal('parameters:\n  who: node\n  log:\n    level: debug\n');
    const all = { port: 80, log: { level: 'info', keep: 7 }, tags: ['a', 'b'], who: 'default' };
    await save({ content: JSON.stringify({ parameters: all }), contentType: 'json' });
    await save({
      scopeType: 'Site',
      value: 'berlin',
      content: 'parameters: {who: site, tags: [c], zone: eu}',
    });
    await save({
      scopeType: 'Environment',
      value: 'prod',
      content: 'parameters: {who: env, port: 443, zone: none}',
    });
    expect(await pullParameters(node)).to.equal(`parameters:
  port: 443
  log:
    level: debug
    keep: 7
  tags:
    - c
  who: node
  zone: eu
`);
    expect(Object.keys(await pullBundle(node))).to.deep.equal([MAIN, 'parameters.yaml']);
  });

  it('with every value exactly as its author wrote it', async () => {
    const save = await start('exact');
    await save({
      content: `# goes
parameters:
  big: 18446744073709551615
  float: 1.0
  text: "0123"
  yes: "yes"
  nothing: ~
  date: 2026-11-20
  lines: |
    one
      two
  emoji: 🚀
  none: {}
  empty: []
  "a.b/c~d e": 'it''s'
  __proto__: {constructor: 1e3}
  "7": "null"
`,
    });
    await save({
      scopeType: 'Site',
      value: 'berlin',
      content:
        '{"parameters": {"wide": 123456789012345678901234567890, "exact": 0.10000000000000000555, "__proto__": {"more": -0.0}}}',
      contentType: 'json',
    });
    expect(await pullParameters(node)).to.equal(`parameters:
  big: 18446744073709551615
  float: 1.0
  text: "0123"
  "yes": "yes"
  nothing: null
  date: "2026-11-20"
  lines: |
    one
      two
  emoji: "🚀"
  none: {}
  empty: []
  a.b/c~d e: it's
  __proto__:
    constructor: 1.0e+3
    more: -0.0
  "7": "null"
  wide: 123456789012345678901234567890
  exact: 0.10000000000000000555
`);
  });

  it('of its own name with an underscore, over a restart, in whichever spelling the name is given', async () => {
    const windows = await hawser.registerNode('WIN_APP_01.Example.ORG.');
    await start('underscored');
    await assign(hawser, windows, 'underscored');
    const own = { configuration: 'underscored', scopeType: 'Node', content: 'parameters: {own: 1}\n' };
    await saveParameters(hawser, { ...own, value: 'win_app_01.example.org.' });
    await saveParameters(hawser, { ...own, value: 'WIN_APP_01.example.org', version: '1.1.0' });
    expect(await pullParameters(windows)).to.equal('parameters:\n  own: 1\n');
    await hawser.restart();
    const anew = (known: NodeUnderTest) => ({ ...known, client: hawser.client(known.identity) });
    node = anew(node);
    expect(await pullParameters(anew(windows))).to.equal('parameters:\n  own: 1\n');
    expect(hawser.git('parameters/underscored.git', 'tag').trim().split('\n')).to.deep.equal([
      'Node/win_app_01.example.org/v1.0.0',
      'Node/win_app_01.example.org/v1.1.0',
    ]);
  });

  it('without those that are skipped on purpose, and with no file where that leaves none', async () => {
    const save = await start('skipped');
    await save({ scopeType: 'Site', value: 'berlin', content: null });
    expect(await pullParameters(node)).to.equal(null);
    await save({ content: 'parameters: {a: 1}' });
    expect(await pullParameters(node)).to.equal('parameters:\n  a: 1\n');
    await save({ version: '1.1.0', content: null });
    expect(await pullParameters(node)).to.equal(null);
    await save({ version: '1.2.0', content: '{}' });
    expect(await pullParameters(node)).to.equal('{}\n');
  });

  it('of the major of its configuration, else of the nearest lower one', async () => {
    const save = await start('majors', ['1.0.0', '2.0.0', '3.0.0'], { majorVersion: 2 });
    const offer = async (version: string) => {
      await save({ version, content: `parameters: {from: ${version}}` });
      return pullParameters(node);
    };
    expect(await offer('3.0.0')).to.equal(null);
    expect(await offer('0.9.0')).to.equal(fromText('0.9.0'));
    expect(await offer('1.10.0')).to.equal(fromText('1.10.0'));
    expect(await offer('2.0.0')).to.equal(fromText('2.0.0'));
    expect(await offer('1.11.0')).to.equal(fromText('2.0.0'));
    await assign(hawser, node, 'majors');
    expect(await pullParameters(node)).to.equal(fromText('3.0.0'));
  });

  it('of a prerelease only where its channel admits that', async () => {
    const save = await start('channels');
    const offer = (version: string) => save({ version, content: `parameters: {from: ${version}}` });
    await offer('1.0.0');
    await offer('1.1.0-rc.1');
    await offer('1.2.0-alpha.1');
    const gets: [prereleaseChannel: string | null, version: string][] = [
      [null, '1.0.0'],
      ['rc', '1.1.0-rc.1'],
      ['alpha', '1.2.0-alpha.1'],
    ];
    for (const [prereleaseChannel, version] of gets) {
      await assign(hawser, node, 'channels', { prereleaseChannel });
      expect(await pullParameters(node)).to.equal(fromText(version));
    }
  });

  it('by its own name and nobody else by that', async () => {
    const save = await start('named');
    const other = await hawser.registerNode('web-02.example.org');
    await assign(hawser, other, 'named');
    await save({ scopeType: 'Node', value: other.fqdn, content: 'parameters: {mine: true}' });
    expect(await pullParameters(node)).to.equal(null);
    expect(await pullParameters(other)).to.equal('parameters:\n  mine: true\n');
  });

  it('and not where the configuration brings its own', async () => {
    const own = { files: { ...FILES, 'parameters.yaml': 'parameters: {own: true}\n' } };
    await ok(201, create(hawser.admin, 'own', { useServerManagedParameters: 'false' }, own));
    await ok(200, publish(hawser.admin, 'own', '1.0.0'));
    await assign(hawser, node, 'own');
    await saveParameters(hawser, { configuration: 'own', content: 'parameters: {own: false}' });
    const answer = await ok(200, poll(node));
    expect(answer.parametersFile).to.equal(null);
    expect((await pullBundle(node))['parameters.yaml']).to.equal('parameters: {own: true}\n');

    await ok(201, addVersion(hawser.admin, 'own', { version: '2.0.0' }, { files: FILES }));
    await ok(
      200,
      hawser.admin.call('PATCH', '/api/v1/configurations/own', {
        json: { useServerManagedParameters: true },
      }),
    );
    const { checksum } = await ok(200, poll(node));
    expect(checksum).to.not.equal(answer.checksum);
    expect(await pullParameters(node), 'in place of the older file').to.equal('parameters:\n  own: false\n');
  });

  it('in a composite beside each child, and the children include them', async () => {
    await publishConfiguration(hawser.admin, 'first', { '1.0.0': FILES });
    await publishConfiguration(hawser.admin, 'second', { '1.0.0': FILES });
    await publishConfiguration(hawser.admin, 'third', { '2.0.0': FILES });
    const children: Child[] = ['first', 'second', 'third'];
    await publishWithChildren(hawser.admin, 'all', '1.0.0', children);
    await assign(hawser, node, 'all', { isComposite: true });
    const before = await ok(200, poll(node));
    await saveParameters(hawser, { configuration: 'first', content: 'parameters: {of: first}' });
    await saveParameters(hawser, { configuration: 'third', content: 'parameters: {of: third}' });
    const answer = await ok(200, poll(node));
    expect(answer.parametersFile).to.equal(null);
    expect(answer.checksum).to.not.equal(before.checksum);
    const { [MAIN]: document = '', ...files } = await pullBundle(node);
    expect(files).to.deep.equal({
      [`first/${MAIN}`]: FILES[MAIN],
      'first/parameters.yaml': 'parameters:\n  of: first\n',
      [`second/${MAIN}`]: FILES[MAIN],
      [`third/${MAIN}`]: FILES[MAIN],
      'third/parameters.yaml': 'parameters:\n  of: third\n',
    });
    expect(document.match(/(?:configurationFile|parametersFile): .*/g)).to.deep.equal([
      `configurationFile: "first/${MAIN}"`,
      'parametersFile: "first/parameters.yaml"',
      `configurationFile: "second/${MAIN}"`,
      `configurationFile: "third/${MAIN}"`,
      'parametersFile: "third/parameters.yaml"',
    ]);
    expect((await node.client.get(configurationPath(node))).text).to.equal(document);
  });
});

const fromText = (version: string) => `parameters:\n  from: "${version}"\n`;
