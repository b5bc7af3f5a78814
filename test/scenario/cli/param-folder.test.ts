// everyday: SQLite
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { NODE_SCOPE_TYPE_ID } from '../../../src/domain/scopes.ts';
import { expectFailed, rowsOf } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { MAIN, release } from '../../support/configurations.ts';
import { ALL_SCOPES, createToken, publishConfiguration } from '../../support/hawser.ts';
import { assign, pullParameters, saveParameters } from '../../support/parameter-files.ts';
import { withPort } from '../../support/parameter-folders.ts';
import { makeUser } from '../../support/people.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../../support/scopes.ts';
import { startedForEach } from '../../support/started.ts';

const MAIN_FILE = { [MAIN]: '$schema: x\nparameters: {port: {type: int}}\nresources: []\n' };

describe('hawserctl param push and pull', () => {
  const session = startedForEach(startCliSession);
  const run = (...words: string[]) => session.cli.run(['param', ...words]);
  const save = (content: string | null, more: object = {}) =>
    saveParameters(session.hawser, { configuration: 'web', content, ...more });
  const prodFile = { scopeType: 'Environment', value: 'prod' };
  /** The files of the folder with their content. */
  const laid = (folder: string) =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
        .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]),
    );
  let environment: string;
  let prod: string;

  beforeEach(async () => {
    await publishConfiguration(session.hawser.admin, 'web', { '1.0.0': MAIN_FILE });
    environment = await createScopeType(session.hawser, 'Environment');
    prod = await createScopeValue(session.hawser, environment, 'prod');
  });

  it('makes drafts of a folder, publishes them, and then does nothing', async () => {
    const { hawser } = session;
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    await tagNode(hawser, node.nodeId, prod);
    session.folder('site', {
      'README.md': 'beside the tree',
      'parameters/web/Default.yaml': withPort(1),
      'parameters/web/Environment/prod.yaml': withPort(2),
    });
    const pushed = await run('push', 'site', '-m', 'new ports');
    expect(pushed).to.include({ code: 0 });
    expect(rowsOf(pushed.stdout)).to.deep.equal([
      ['CONFIGURATION', 'SCOPE', 'VERSION', 'STATUS'],
      ['web', 'Default', '1.0.0', 'Draft'],
      ['web', 'Environment/prod', '1.0.0', 'Draft'],
    ]);
    expect(await pullParameters(node)).to.equal(null);
    const published = await run('push', 'site', '--publish');
    expect(published).to.include({ code: 0 });
    expect(published.stdout).to.contain('Publishing 2 parameter files changes 1 of 1 node');
    expect(await pullParameters(node)).to.contain('port: 2');
    expect((await run('push', 'site', '--publish')).stdout).to.equal(
      'Nothing differs from what the scopes give. Nothing was made.\n',
    );
    expect(JSON.parse((await run('push', 'site', '--json')).stdout)).to.deep.equal([]);
  });

  it('asks before it publishes what gives nodes problems, and leaves the drafts where nobody answers', async () => {
    const { hawser } = session;
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    await save(withPort(1));
    await ok(
      200,
      hawser.admin.put('/api/v1/configurations/web/settings', { parameterValidationMode: 'Warn' }),
    );
    session.folder('site', { 'parameters/web/Default.yaml': 'parameters: {port: x}\n' });
    const refused = await run('push', 'site', '--publish');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/Publish 1 parameter file all the same\?/);
    expect(await pullParameters(node)).to.contain('port: 1');
    expect((await run('push', 'site', '--publish', '--yes')).code).to.equal(0);
    expect(await pullParameters(node)).to.contain('port: x');
  });

  it('tells what is refused by the path of its file', async () => {
    session.folder('site', { 'parameters/web/Environment/prod.yaml': 'parameters: {port: x}\n' });
    expectFailed(await run('push', 'site'), 1, '/parameters/web/Environment/prod.yaml/parameters/port');
    session.folder('empty', { 'README.md': '' });
    expectFailed(await run('push', 'empty'), 1, /There is no folder .*parameters/);
  });

  it('pulls what each scope gives, which makes nothing when it is pushed', async () => {
    const { hawser, cli } = session;
    const node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'app', { '1.0.0': MAIN_FILE });
    await save(withPort(1));
    await save(withPort(2), { version: '1.1.0' });
    await save(withPort(3), { version: '1.2.0', publish: false });
    await save(null, prodFile);
    const json = '{"parameters":\t{"port": 4}}';
    await save(json, { scopeType: 'Node', value: 'web-01.example.org', contentType: 'application/json' });
    await saveParameters(hawser, { configuration: 'app', content: withPort(5) });
    await release(hawser.admin, 'web', '2.0.0', { files: MAIN_FILE });
    const pulled = await run('pull', 'site');
    expect(pulled).to.include({ code: 0, stderr: '' });
    const site = join(cli.home, 'site');
    expect(laid(site)).to.deep.equal({
      'parameters/app/Default.yaml': withPort(5),
      'parameters/web/Default.yaml': withPort(2),
      'parameters/web/Environment/prod.passthrough': '',
      'parameters/web/Node/web-01.example.org.yaml': json,
    });
    expect((await run('push', 'site')).stdout).to.match(/^Nothing differs/);
    await run('pull', 'one', '--configuration', 'app');
    expect(Object.keys(laid(join(cli.home, 'one')))).to.deep.equal(['parameters/app/Default.yaml']);
    expect(node.nodeId).to.be.a('string');
  });

  it('writes over what differs, takes the other form of a scope away, and names what else is there', async () => {
    await save(withPort(2));
    await save(null, prodFile);
    const site = session.folder('site', {
      'parameters/web/Default.yaml': withPort(1),
      'parameters/web/Environment/prod.yaml': withPort(1),
      'parameters/web/Environment/own.yaml': withPort(9),
      'parameters/other/Default.yaml': withPort(9),
    });
    const pulled = await run('pull', 'site');
    expect(pulled).to.include({ code: 0 });
    expect(pulled.stderr).to.contain(
      'Deleted, as the other form of it was written: parameters/web/Environment/prod.yaml.',
    );
    expect(pulled.stderr).to.contain('would make drafts of them: parameters/web/Environment/own.yaml.');
    expect(laid(site)).to.deep.equal({
      'parameters/other/Default.yaml': withPort(9),
      'parameters/web/Default.yaml': withPort(2),
      'parameters/web/Environment/own.yaml': withPort(9),
      'parameters/web/Environment/prod.passthrough': '',
    });
  });

  it('writes nowhere but into the folder, and no names that some system cannot have', async () => {
    await save(withPort(1), { scopeType: 'Environment', value: 'nul' });
    await save(withPort(2));
    const failed = await run('pull', 'site');
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.contain('parameters/web/Environment/nul.yaml');
    expect(Object.keys(laid(join(session.cli.home, 'site')))).to.deep.equal(['parameters/web/Default.yaml']);
    const outside = session.folder('outside', { 'kept.txt': 'kept' });
    const linked = session.folder('linked', { 'a.txt': '' });
    symlinkSync(outside, join(linked, 'parameters'));
    expectFailed(await run('pull', 'linked'), 1, /is a link where a folder is needed/);
    expect(laid(outside)).to.deep.equal({ 'kept.txt': 'kept' });
  });

  it('says which values may not be read, and needs Read on the configuration', async () => {
    const { hawser, cli } = session;
    await save(withPort(1));
    await save(withPort(2), prodFile);
    const reader = await makeUser(hawser, {
      username: 'reader',
      grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
    });
    const { userId: keeper } = await makeUser(hawser, { username: 'keeper' });
    const grant = { principalType: 'User', principalId: keeper, level: 'Read' };
    await ok(
      204,
      hawser.admin.put('/api/v1/configurations/web/parameters/permissions', {
        ...grant,
        ...{ scopeTypeId: environment, scopeValueId: prod, restricted: true },
      }),
    );
    cli.signIn(hawser.target(), await createToken(hawser.client(), reader.session, ALL_SCOPES));
    const pulled = await run('pull', 'site');
    expect(pulled).to.include({ code: 0 });
    expect(pulled.stderr).to.contain(
      'Left out, as you may not read it: web Environment/prod, web Node (perhaps).',
    );
    expect(Object.keys(laid(join(cli.home, 'site')))).to.deep.equal(['parameters/web/Default.yaml']);
    expectFailed(await run('pull', 'none', '--configuration', 'nothing'), 1, /needs Read on it/);
    expect(existsSync(join(cli.home, 'none'))).to.equal(false);
    writeFileSync(join(cli.home, 'file'), '');
    expectFailed(await run('pull', 'file'), 1, /is no folder/);
  });

  it('says which nodes have files that may not be read, by name where the nodes may be listed', async () => {
    const { hawser, cli } = session;
    const { nodeId } = await hawser.registerNode('hidden-01.example.org');
    await hawser.registerNode('plain-01.example.org');
    await save(withPort(1));
    await save(withPort(2), { scopeType: 'Node', value: 'hidden-01.example.org' });
    const { userId: keeper } = await makeUser(hawser, { username: 'node-keeper' });
    const grant = { principalType: 'User', principalId: keeper, level: 'Read', restricted: true };
    const permissions = '/api/v1/configurations/web/parameters/permissions';
    const scope = { scopeTypeId: NODE_SCOPE_TYPE_ID, scopeValueId: nodeId };
    await ok(204, hawser.admin.put(permissions, { ...grant, ...scope }));
    for (const [username, role, told] of [
      ['lists-nodes', 'nodes.read', 'web Node/hidden-01.example.org'],
      ['lists-nothing', null, 'web Node'],
    ] as const) {
      const grants = [{ on: 'configuration', name: 'web', level: 'Read' } as const];
      const permitted = role === null ? {} : { permissions: [role] };
      const reader = await makeUser(hawser, { username, grants, ...permitted });
      cli.signIn(hawser.target(), await createToken(hawser.client(), reader.session, ALL_SCOPES));
      const pulled = await run('pull', username);
      expect(pulled, pulled.stderr).to.include({ code: 0 });
      expect(pulled.stderr).to.contain(`Left out, as you may not read it: ${told}.`);
      expect(Object.keys(laid(join(cli.home, username)))).to.deep.equal(['parameters/web/Default.yaml']);
    }
  });

  it('says what of the folder cannot be read, and writes nothing', async () => {
    await save(withPort(1));
    const site = session.folder('site', { 'parameters/web/Default.passthrough/inner.txt': 'kept' });
    expectFailed(await run('pull', 'site'), 1, /Default\.passthrough cannot be read: EISDIR/);
    expect(laid(site)).to.deep.equal({ 'parameters/web/Default.passthrough/inner.txt': 'kept' });
  });
});
