// everyday: SQLite
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectFailed, rowsOf } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { addVersion, CONFIGURATIONS, MAIN, versionsOf } from '../../support/configurations.ts';
import { createToken, type NodeUnderTest, publishConfiguration } from '../../support/hawser.ts';
import { assign, poll, saveParameters } from '../../support/parameter-files.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const YAML = '$schema: x\nresources: []\n';

/** A document has at most 20,000 leaves, merged ones too. */
const leaves = (name: string) =>
  JSON.stringify({
    parameters: Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`${name}${at}`, at])),
  });

describe('hawserctl config', () => {
  const session = started(startCliSession);
  let one: NodeUnderTest;
  before(async () => {
    const { hawser } = session;
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: YAML, 'port.conf': '80\n' },
      '1.1.0': { [MAIN]: YAML, 'port.conf': '8080\n' },
    });
    await ok(
      201,
      addVersion(
        hawser.admin,
        'web',
        { version: '1.2.0' },
        { files: { [MAIN]: YAML, 'port.conf': '8443\n' } },
      ),
    );
    await publishConfiguration(hawser.admin, 'db', { '2.0.0': { [MAIN]: YAML } });
    one = await hawser.registerNode('one.example');
    await hawser.registerNode('two.example');
    await assign(hawser, one, 'web');
  });

  const config = (...words: string[]) => session.cli.run(['config', ...words]);
  const statuses = async (name: string) =>
    (await ok(200, session.hawser.admin.get(versionsOf(name)))).map(
      (each: { version: string; status: string; withdrawn: object | null }) =>
        `${each.version} ${each.withdrawn ? 'Withdrawn' : each.status}`,
    );
  const isOffered = async () => (await ok(200, poll(one))).version;

  it('lists those that the filter lets through', async () => {
    const { stdout } = await config('list', '--filter', 'latestVersion=1.2.0');
    expect(rowsOf(stdout).map((cells) => cells.slice(0, 4))).to.deep.equal([
      ['NAME', 'PUBLISHED', 'HIGHEST', 'VERSIONS'],
      ['web', '1.1.0', '1.2.0', '3'],
    ]);
    const { json } = await session.hawser.admin.get(CONFIGURATIONS);
    expect(JSON.parse((await config('list', '--json')).stdout)).to.deep.equal(json);
    const none = await config('list', '--filter', 'name=x*');
    expect(none).to.deep.equal({
      ...{ code: 0, stdout: '' },
      stderr: 'There are no such configurations that you may read.\n',
    });
    expect((await config('list', '--filter', 'nonsense=1')).code).to.equal(2);
  });

  it('shows the versions, highest first', async () => {
    const { stdout } = await config('show', 'web');
    expect(stdout)
      .to.match(/^Highest version: +1\.2\.0$/m)
      .and.match(/^VERSION .*\n1\.2\.0 +Draft +2 .*\n1\.1\.0 +Published +2 .*\n1\.0\.0 +Published +2 .*\n$/m);
    const answer = await session.hawser.admin.get(`${CONFIGURATIONS}/web`);
    expect((await config('show', 'web', '--json')).stdout).to.equal(`${answer.text}\n`);
  });

  describe('diff', () => {
    it('prints a patch of two versions that git applies', async () => {
      const folder = session.folder('applied', { [MAIN]: YAML, 'port.conf': '80\n' });
      const { code, stdout, stderr } = await config('diff', '1.0.0', '1.2.0', '--name', 'web');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout)
        .to.match(/^diff --git a\/port\.conf b\/port\.conf\n/)
        .and.match(/^-80\n\+8443\n$/m);
      execFileSync('git', ['apply'], { cwd: folder, input: stdout });
      const same = await config('diff', 'applied', '--name', 'web');
      expect(same).to.deep.equal({ code: 0, stdout: '', stderr: 'There is no difference.\n' });
    });

    it('compares one version with the published one below it', async () => {
      expect((await config('diff', '1.2.0', '--name', 'web')).stdout).to.match(/^-8080\n\+8443\n$/m);
      const { stdout } = await config('diff', '1.0.0', '1.1.0', '--name', 'web', '--json');
      const answer = await session.hawser.admin.get(`${CONFIGURATIONS}/web/compare?from=1.0.0&to=1.1.0`);
      expect(stdout).to.equal(`${answer.text}\n`);
    });

    it('compares a folder with the highest version of its name, a draft too, or with the one that is said', async () => {
      const folder = session.folder('web', {
        [`${MAIN}*`]: YAML,
        'port.conf': '1\n',
        'x.bin': Buffer.from([0, 1]),
      });
      const { stdout } = await config('diff', './web');
      expect(stdout)
        .to.match(/^old mode 100644\nnew mode 100755\n/m)
        .and.match(/^-8443\n\+1\n/m);
      execFileSync('git', ['apply', '-R'], { cwd: folder, input: stdout });
      expect((await config('diff', 'web')).stderr).to.equal('There is no difference.\n');
      expect((await config('diff', 'web', '1.0.0')).stdout).to.match(/^-80\n\+8443\n/m);
      const inside = await session.cli.run(['config', 'diff', '.', '--json'], { cwd: folder });
      expect(JSON.parse(inside.stdout)).to.deep.include({ from: { version: '1.2.0' }, files: [] });
    });

    it('says what it cannot find', async () => {
      const cases: [string[], number, RegExp][] = [
        [['./none'], 1, /There is no folder .*\/none\./],
        [
          ['1.0.0'],
          2,
          /There is no folder "1\.0\.0" here; if it is a version, say of which configuration by --name\./,
        ],
        [['v1.0.0', '--name', 'web'], 2, /drop the v: 1\.0\.0/],
        [['9.9.9', '--name', 'web'], 1, /^hawserctl: not_found: /],
        [
          ['web', '--name', 'none'],
          1,
          /^hawserctl: not_found: There is no configuration "none" that you may read\./,
        ],
      ];
      for (const [words, code, says] of cases) {
        const ended = await config('diff', ...words);
        expect(ended, words.join(' ')).to.include({ code, stdout: '' });
        expect(ended.stderr).to.match(says);
      }
    });
  });

  describe('preview', () => {
    it('counts the nodes that change, and lists them', async () => {
      const { code, stdout, stderr } = await config('preview', 'web', '1.2.0', '--nodes');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
        ['Publishing web 1.2.0 changes 1 of 2 nodes; 1 unchanged, 0 unresolvable.'],
        [''],
        ['NODES', 'CHANGE', 'BEFORE', 'AFTER', 'FILES', 'PARAMETERS', 'PROBLEMS', 'SUCH AS'],
        ['1', 'Changed', 'web 1.1.0', 'web 1.2.0', '1', '0', '0', 'one.example'],
        [''],
        ['NODE', 'CHANGE'],
        ['one.example', 'Changed'],
        [''],
      ]);
      const json = JSON.parse((await config('preview', 'web', '1.2.0', '--json')).stdout);
      expect(json).to.deep.include({ state: 'Done', groupCount: 1 });
      expect(json.groups[0]).to.include({ nodeCount: 1, change: 'Changed' });
      expect(await statuses('web')).to.include('1.2.0 Draft');
    });

    it('ends with 1 where a node would get an error in place of what it gets, and says why', async () => {
      const { hawser } = session;
      await publishConfiguration(hawser.admin, 'heavy', { '1.0.0': { [MAIN]: YAML } });
      await ok(201, addVersion(hawser.admin, 'heavy', { version: '2.0.0' }));
      const node = await hawser.registerNode('heavy.example');
      await assign(hawser, node, 'heavy');
      // The parameters of the next major are too many when they are merged.
      const file = { configuration: 'heavy', version: '2.0.0', contentType: 'json' };
      await saveParameters(hawser, { ...file, version: '1.0.0', content: '{}' });
      await saveParameters(hawser, { ...file, content: leaves('a') });
      const own = { scopeType: 'Node', value: node.fqdn };
      await saveParameters(hawser, { ...file, ...own, version: '1.0.0', content: '{}' });
      await saveParameters(hawser, { ...file, ...own, content: leaves('b') });
      const { code, stdout, stderr } = await config('preview', 'heavy', '2.0.0');
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '1 node would get an error or nothing.\n' });
      expect(stdout)
        .to.match(/^Publishing heavy 2\.0\.0 changes 0 of 3 nodes; 2 unchanged, 1 unresolvable\.$/m)
        .and.match(/^1 +Unresolvable +heavy 1\.0\.0 +nothing .* heavy\.example$/m)
        .and.match(/^Unresolvable: parameter_merge_failed: ./m);
      expect((await config('preview', 'heavy', '2.0.0', '--json')).code).to.equal(1);
    });

    it('refuses what is no draft', async () => {
      expect((await config('preview', 'web', '1.1.0')).stderr).to.match(/^hawserctl: already_published: /);
      expect((await config('preview', 'web', '9.0.0')).stderr).to.match(/^hawserctl: not_found: /);
    });
  });

  it('pulls what was pushed, byte by byte', async () => {
    const folder = session.folder('round', {
      [MAIN]: YAML,
      'bin/run.sh*': '#!/bin/sh\r\n',
      'b.bin': Buffer.from([0, 255]),
    });
    await config('push', folder, '--create');
    const { code } = await config('pull', 'round', '1.0.0', 'back');
    expect(code).to.equal(0);
    // Bits included: git compares them too.
    execFileSync('git', ['diff', '--no-index', '--exit-code', folder, join(session.cli.home, 'back')]);
  });

  it('deletes a draft or all of it after a question, and nothing where nobody can be asked', async () => {
    session.folder('goes', { [MAIN]: YAML });
    await config('push', 'goes', '--create', '--publish');
    session.folder('goes', { [MAIN]: `${YAML}#\n` });
    await config('push', 'goes');
    for (const words of [['goes', '1.0.1'], ['goes']]) {
      expectFailed(
        await config('delete', ...words),
        2,
        'Nothing was done: there is no terminal to ask at, so say --yes.',
      );
    }
    expect(await statuses('goes')).to.deep.equal(['1.0.1 Draft', '1.0.0 Published']);
    expect((await config('delete', 'goes', '1.0.1', '--yes')).stdout).to.equal(
      'The draft goes 1.0.1 is deleted.\n',
    );
    expect(await statuses('goes')).to.deep.equal(['1.0.0 Published']);
    expect((await config('delete', 'goes', '1.0.0', '--yes')).stderr).to.match(
      /^hawserctl: published_version: /,
    );
    expect((await config('delete', 'goes', '-y')).stdout).to.equal('goes is deleted.\n');
    expect((await config('show', 'goes')).stderr).to.match(/^hawserctl: not_found: /);
  });

  describe('a version', () => {
    it('is published with a message, withdrawn with a reason, and offered again', async () => {
      const published = await config('publish', 'web', '1.2.0', '-m', 'Port 8443');
      expect(published).to.deep.equal({
        code: 0,
        stdout:
          'Publishing web 1.2.0 changes 1 of 3 nodes; 2 unchanged, 0 unresolvable.\n' +
          'web 1.2.0 is published. Nodes that it is for get it at their next poll.\n',
        stderr: 'Next: "hawserctl proof web 1.2.0" tells who runs it.\n',
      });
      expect(await isOffered()).to.equal('1.2.0');
      expect((await config('show', 'web', '1.2.0')).stdout).to.match(/^Message: +Port 8443$/m);
      expect((await config('publish', 'web', '1.2.0')).stderr).to.match(/^hawserctl: already_published: /);

      const dry = await config('withdraw', 'web', '1.2.0', '--dry-run');
      expect(dry.stdout).to.equal(
        'web 1.2.0 is offered to 1 node. Nothing was changed.\nWOULD GET  NODES\n1.1.0      1\n',
      );
      expect(await config('withdraw', 'web', '1.2.0')).to.deep.equal({
        ...{ code: 2, stdout: '' },
        stderr: 'hawserctl: Say why it is withdrawn by -m, or see what that does by --dry-run.\n',
      });
      expect(await isOffered()).to.equal('1.2.0');
      expectFailed(
        await config('withdraw', 'web', '1.2.0', '-m', 'closes port 22'),
        1,
        /^hawserctl: web 1\.2\.0 is offered to 1 node: 1 would get 1\.1\.0\. Withdraw it\? Nothing was done: /,
      );
      expect(await isOffered()).to.equal('1.2.0');
      const withdrawn = await config('withdraw', 'web', '1.2.0', '-m', 'closes port 22', '--yes');
      expect(withdrawn).to.deep.equal({
        code: 0,
        stdout: 'web 1.2.0 is withdrawn. Nodes get the next version that fits at their next poll.\n',
        stderr: '"hawserctl config restore web 1.2.0" offers it again.\n',
      });
      expect(await isOffered()).to.equal('1.1.0');
      expect((await config('show', 'web', '1.2.0')).stdout).to.match(/^Status: +Withdrawn: closes port 22$/m);
      expect((await config('show', 'web')).stdout).to.match(/^1\.2\.0 +Withdrawn /m);
      expect((await config('pull', 'web', 'pulled')).stdout).to.match(/^web 1\.1\.0 is in /);

      expect((await config('restore', 'web', '1.2.0')).code).to.equal(0);
      expect(await isOffered()).to.equal('1.2.0');
      expectFailed(await config('restore', 'web', '1.2.0'), 1, /^hawserctl: not_found: /);
    });
  });

  it('is refused to whoever may not do it, with the reason', async () => {
    const { hawser, cli } = session;
    session.folder('mine', { [MAIN]: YAML });
    const weak = await createToken(hawser.client(), hawser.session, ['nodes.read']);
    const run = (token: string) =>
      cli.run(['config', 'push', 'mine', '--create'], { env: { HAWSER_TOKEN: token } });
    const refused = await run(weak);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/^hawserctl: forbidden: /);
    expect((await hawser.admin.get(`${CONFIGURATIONS}/mine`)).status).to.equal(404);
    expectFailed(
      await run('pat_unknown'),
      1,
      /^hawserctl: unauthenticated: .*\nSign in with "hawserctl login"/,
    );
  });
});
