// everyday: SQLite
/** What hawserctl looks at before it replaces, publishes or deletes something, and whom it asks. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Cli, expectFailed, makeCli } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { publishWithChildren } from '../../support/composites.ts';
import { fileOf, MAIN, versionsOf } from '../../support/configurations.ts';
import { save } from '../../support/draft-files.ts';
import { publishConfiguration } from '../../support/hawser.ts';
import { assign } from '../../support/parameter-files.ts';
import { documentOf } from '../../support/parameter-schemas.ts';
import { makeUser } from '../../support/people.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

const YAML = '$schema: x\nresources: []\n';

describe('hawserctl, before it changes something', () => {
  const session = started(startCliSession);
  let ann: Cli;
  let bob: Cli;

  before(async () => {
    await publishConfiguration(session.hawser.admin, 'web', { '1.0.0': { [MAIN]: YAML } });
    ann = await signedIn('ann');
    bob = await signedIn('bob');
  });
  after(() => {
    ann.close();
    bob.close();
  });

  async function signedIn(username: string): Promise<Cli> {
    const person = await makeUser(session.hawser, {
      username,
      grants: [
        { on: 'configuration', name: 'web', level: 'Manage' },
        { on: 'parameters', name: 'web', level: 'Manage' },
      ],
    });
    const { token } = await ok(
      201,
      person.client.post('/api/v1/auth/tokens', {
        name: 'cli',
        scopes: ['configurations.grants', 'parameters.grants'],
      }),
    );
    const cli = await makeCli();
    mkdirSync(join(cli.home, 'web'));
    cli.signIn(session.hawser.target(), token, username);
    return cli;
  }

  const draftOf = async (version: string) =>
    (await session.hawser.admin.get(fileOf('web', version, 'note.txt'))).text;

  it('replaces a draft that somebody else made or changed only with --replace', async () => {
    const push = (who: Cli, note: string, ...more: string[]) => {
      who.write('web/note.txt', note);
      who.write(`web/${MAIN}`, YAML);
      return who.run(['config', 'push', 'web', '--name', 'web', '--version', '1.0.1', ...more]);
    };
    expect((await push(ann, 'one')).code).to.equal(0);
    expect((await push(ann, 'two')).code).to.equal(0);
    const refused = await push(bob, 'three');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /The draft web 1\.0\.1 is not yours alone: ann made it at \d{4}-.*--replace/s,
    );
    expect(await draftOf('1.0.1')).to.equal('two');
    expect((await push(bob, 'four', '--replace')).code).to.equal(0);
    expect(await draftOf('1.0.1')).to.equal('four');
    await ok(200, save(session.hawser.admin, ['web', '1.0.1', 'note.txt'], 'five'));
    const hers = await push(ann, 'six');
    expect(hers.code).to.equal(1);
    expect(hers.stderr).to.include('and admin changed it last');
    expect(await draftOf('1.0.1')).to.equal('five');
  });

  it('is as careful with drafts of parameters', async () => {
    const set = (who: Cli, value: string, ...more: string[]) =>
      who.run(['param', 'set', 'web', '--scope', 'Default', '--version', '1.0.0', '-f', '-', ...more], {
        stdin: `parameters:\n  a: ${value}\n`,
      });
    expect((await set(ann, 'one')).code).to.equal(0);
    expectFailed(await set(bob, 'two'), 1, /^hawserctl: The draft 1\.0\.0 of .* ann made it at \d{4}-/);
    const get = async () =>
      (await ann.run(['param', 'get', 'web', '--scope', 'Default', '--version', '1.0.0'])).stdout;
    expect(await get()).to.include('one');
    expect((await set(bob, 'two', '--replace')).code).to.equal(0);
    expect(await get()).to.include('two');
  });

  it('publishes what moves nodes to another major version only when told so', async () => {
    const { cli, hawser } = session;
    const node = await hawser.registerNode('careful.example.org');
    await publishConfiguration(hawser.admin, 'app', {
      '1.0.0': { [MAIN]: documentOf({ a: { type: 'string', defaultValue: 'x' } }) },
    });
    await assign(hawser, node, 'app');
    const draft = async (version: string, parameters: object) => {
      session.folder('app', { [MAIN]: documentOf(parameters) });
      const pushed = await cli.run(['config', 'push', 'app', '--name', 'app', '--version', version]);
      expect(pushed.code, pushed.stderr).to.equal(0);
    };
    const publish = (version: string, ...more: string[]) =>
      cli.run(['config', 'publish', 'app', version, ...more]);
    const statusOf = async (version: string) =>
      (await ok(200, hawser.admin.get(`${versionsOf('app')}/${version}`))).status;

    await draft('1.1.0', { a: { type: 'string', defaultValue: 'y' } });
    const calm = await publish('1.1.0');
    expect(calm.code, calm.stderr).to.equal(0);
    expect(calm.stdout).to.match(
      /^Publishing app 1\.1\.0 changes 1 of 1 node; .*\napp 1\.1\.0 is published\./,
    );

    await draft('2.0.0', { port: { type: 'int' } });
    const refused = await publish('2.0.0');
    expect(refused.code).to.equal(1);
    expect(refused.stderr)
      .to.include('1 node would move to another major version.')
      .and.to.match(/Publish app 2\.0\.0 all the same\? Nothing was done.*--yes/);
    expect(await statusOf('2.0.0')).to.equal('Draft');
    expect((await publish('2.0.0', '--yes')).code).to.equal(0);

    await draft('3.0.0', { port: { type: 'string' } });
    const unseen = await publish('3.0.0', '--no-preview');
    expect(unseen.code, unseen.stderr).to.equal(0);
    expect(unseen.stdout).to.not.include('Publishing');
  });

  it('publishes what gives nodes new parameter problems only when told so, and names the problems', async () => {
    const { cli, hawser } = session;
    const node = await hawser.registerNode('faulty.example.org');
    const document = { $schema: 'x', parameters: { a: { type: 'int', defaultValue: 1 } }, resources: [] };
    await publishConfiguration(hawser.admin, 'typed', { '1.0.0': { [MAIN]: JSON.stringify(document) } });
    const settings = '/api/v1/configurations/typed/settings';
    await ok(200, hawser.admin.put(settings, { parameterValidationMode: 'Warn' }));
    await assign(hawser, node, 'typed');
    const words = ['typed', '--scope', 'Default', '--version', '1.0.0'];
    const made = await cli.run(['param', 'set', ...words, '-f', '-'], { stdin: 'parameters: {a: text}\n' });
    expect(made.code, made.stderr).to.equal(0);
    const refused = await cli.run(['param', 'publish', ...words]);
    expect(refused.code, refused.stderr).to.equal(1);
    expect(refused.stderr)
      .to.match(/^1 node would get new parameter problems\.$/m)
      .and.to.match(/^Problem: \/parameters\/a: /m);
    const status = async () => (await cli.run(['param', 'list', 'typed'])).stdout;
    expect(await status()).to.include('Draft');
    expect((await cli.run(['param', 'publish', ...words, '--yes'])).code).to.equal(0);
    expect(await status()).to.include('Published');
  });

  it('says that it could not look at the nodes where one may not see them', async () => {
    await ann.run(['config', 'delete', 'web', '1.0.1', '--yes']);
    ann.write('web/note.txt', 'six');
    await ann.run(['config', 'push', 'web', '--name', 'web', '--version', '1.0.2']);
    const published = await ann.run(['config', 'publish', 'web', '1.0.2']);
    expect(published.code, published.stderr).to.equal(0);
    expect(published.stderr).to.include('was not looked at: that needs the permission nodes.read');
  });

  it('shows what a draft of parameters changes, whom it reaches, and takes it back', async () => {
    const { cli, hawser } = session;
    const node = await hawser.registerNode('reached.example.org');
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': { [MAIN]: YAML } });
    await assign(hawser, node, 'db');
    const scope = ['db', '--scope', 'Default'];
    const set = (version: string, value: string) =>
      cli.run(['param', 'set', ...scope, '--version', version, '-f', '-'], {
        stdin: `parameters:\n  a: ${value}\n`,
      });
    await set('1.0.0', 'one');
    const published = await cli.run(['param', 'publish', ...scope, '--version', '1.0.0']);
    expect(published.code, published.stderr).to.equal(0);
    expect(published.stdout).to.match(
      /^Publishing version 1\.0\.0 of the parameters of db for Default changes 1 of/,
    );
    await set('1.0.1', 'two');
    const diff = await cli.run(['param', 'diff', ...scope]);
    expect(diff.stdout).to.match(/^-.*one.*^\+.*two/ms);
    const preview = await cli.run(['param', 'preview', ...scope, '--version', '1.0.1']);
    expect(preview.code, preview.stderr).to.equal(0);
    expect(preview.stdout).to.match(/changes 1 of /);
    expectFailed(await cli.run(['param', 'delete', ...scope, '--version', '1.0.1']), 2, '--yes');
    expect((await cli.run(['param', 'delete', ...scope, '--version', '1.0.1', '--yes'])).code).to.equal(0);
    expectFailed(
      await cli.run(['param', 'diff', ...scope, '--version', '1.0.1']),
      1,
      /not_found: There is no version 1\.0\.1/,
    );
  });

  it('gives and takes levels, and lists them', async () => {
    const { cli } = session;
    await publishWithChildren(session.hawser.admin, 'site', '1.0.0', ['db']);
    for (const [group, name] of [
      ['config', 'db'],
      ['composite', 'site'],
    ] as const) {
      const grants = async () => (await cli.run([group, 'grants', name])).stdout;
      expect((await cli.run([group, 'grant', name, 'bob', 'Read'])).code).to.equal(0);
      expect(await grants()).to.match(/^bob +user +Read /m);
      expect((await cli.run([group, 'grant', name, 'BOB', 'None'])).code).to.equal(0);
      expect(await grants()).to.not.include('bob');
    }
    expectFailed(await cli.run(['config', 'grant', 'db', 'bop', 'Read']), 1, 'Did you mean "bob"?');
  });

  it('knows scope types and values, the mode of nodes, and what they reported', async () => {
    const { cli, hawser } = session;
    expect((await cli.run(['scope', 'create', 'Site'])).code).to.equal(0);
    expect((await cli.run(['scope', 'value', 'Site/north'])).code).to.equal(0);
    expect((await cli.run(['scope', 'rename', 'Site/north', 'south'])).stdout).to.equal(
      'The scope value Site/north is south now.\n',
    );
    expect((await cli.run(['scope', 'rename', 'Site', 'Place'])).stdout).to.equal(
      'The scope type Site is Place now.\n',
    );
    await cli.run(['scope', 'rename', 'Place/south', 'north']);
    await cli.run(['scope', 'rename', 'Place', 'Site']);
    expect((await cli.run(['scope', 'list'])).stdout).to.match(/^Site /m);
    expect((await cli.run(['scope', 'list', 'site'])).stdout).to.match(/^north/m);

    const node = await hawser.registerNode('told.example.org');
    expect((await cli.run(['node', 'mode', 'Remediate', 'told.example.org'])).code).to.equal(0);
    const details = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`));
    expect(details.desiredConfigurationMode).to.equal('Remediate');

    const result = {
      hadErrors: true,
      results: [],
      messages: [{ level: 'Error', name: 'x', message: 'Access is denied' }],
    };
    const sent = await ok(
      201,
      node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, { operation: 'Test', result }),
    );
    expect((await cli.run(['report', 'list', 'told.example.org'])).stdout).to.include(sent.id);
    expect((await cli.run(['report', 'show', sent.id])).stdout).to.match(/^Error x: Access is denied$/m);
  });

  it('suggests the nearest name of what is not found', async () => {
    const { cli } = session;
    for (const [words, right] of [
      [['config', 'show', 'wep'], 'web'],
      [['config', 'show', 'web', '1.0.9'], '1.0.'],
      [['proof', 'wep', '1.0.0'], 'web'],
      [['node', 'show', 'tould.example.org'], 'told.example.org'],
      [['node', 'show', 'told'], 'told.example.org'],
    ] as const) {
      const { code, stderr } = await cli.run(words);
      expect(code, words.join(' ')).to.equal(1);
      expect(stderr)
        .to.match(/Did you mean/)
        .and.to.include(right);
    }
    expect((await cli.run(['config', 'show', 'nothing-like-it'])).stderr).to.not.include('Did you mean');
  });

  it('prints the cause of many refusals once', async () => {
    const { cli, hawser } = session;
    const type = await createScopeType(hawser, 'Ring');
    const [one] = [await createScopeValue(hawser, type, 'one'), await createScopeValue(hawser, type, 'two')];
    const names = ['a', 'b', 'c'].map((name) => `${name}.ring.example.org`);
    for (const name of names) {
      const { nodeId } = await hawser.registerNode(name);
      await ok(201, hawser.admin.post(`/api/v1/nodes/${nodeId}/tags`, { scopeValueId: one }));
    }
    const { code, stderr } = await cli.run(['node', 'tag', ...names, '--value', 'Ring/two', '--yes']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^3 nodes \(a\.ring.*\): scope_type_already_tagged: /m);
    expect(stderr.split('scope_type_already_tagged')).to.have.length(2);
  });
});
