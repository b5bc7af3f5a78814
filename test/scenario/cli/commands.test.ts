// everyday: SQLite
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../../scripts/support/project.ts';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { publishConfiguration, startHawser } from '../../support/hawser.ts';
import { started } from '../../support/started.ts';

describe('hawserctl', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'a: 1\n', 'site/x.conf': 'x' },
    });
    await publishConfiguration(hawser.admin, 'db', { '2.0.0': { 'main.dsc.yaml': 'b: 1\n' } });
    await hawser.registerNode('one.example');
  });

  it('has help for the whole, for a group and for a command', async () => {
    const whole = await cli.run(['--help']);
    expect(whole).to.include({ code: 0, stderr: '' });
    expect(whole.stdout)
      .to.include('Exit codes: ')
      .and.match(/^ {2}config +configurations and their versions$/m);
    expect((await cli.run(['config', '--help'])).stdout).to.match(/^ {2}show .*$/m);
    const long = await cli.run(['config', 'show', '--help']);
    expect(long).to.include({ code: 0, stderr: '' });
    expect(long.stdout).to.include('Usage: hawserctl config show').and.include('--json');
    expect(await cli.run(['config', 'show', '-h'])).to.deep.equal(long);
  });

  it('tells its version, which is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    expect(await cli.runProcess(['--version'])).to.deep.equal({
      code: 0,
      stdout: `hawserctl ${version}\n`,
      stderr: '',
    });
  });

  it('is a program of its own that takes its input, asks the server and ends with its exit code', async () => {
    for (const [words, stdin] of [
      [['config', 'show', 'web'], ''],
      [['config', 'show', 'none'], ''],
      [['config', 'show'], ''],
      [['api', 'PUT', 'settings/validation', '-f', '-'], '{"requireSemVer":true}'],
    ] as const) {
      const ended = await cli.runProcess(words, { stdin });
      expect(ended).to.deep.equal(await cli.run(words, { stdin }));
    }
  });

  for (const words of [
    [],
    ['config'],
    ['nonsense'],
    ['config', 'nonsense'],
    ['config', 'list', '--nonsense'],
    ['config', 'show'],
    ['config', 'list', 'too', 'many'],
    ['completion', 'tcsh'],
    ['api', 'BREW', '/coffee'],
    ['api', 'GET', 'nodes', '--all', '-F', 'take=1'],
    ['api', 'PUT', 'settings', '-F', 'x'],
    ['config', 'list', '--filter', 'x=1'],
  ])
    it(`calls "${words.join(' ')}" wrong usage`, async () => {
      const { code, stdout, stderr } = await cli.run(words);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.not.equal('');
    });

  it('shows a configuration, and a version with its files', async () => {
    expect((await cli.run(['config', 'show', 'web'])).stdout).to.match(/^Published version: +1\.0\.0$/m);
    const { stdout } = await cli.run(['config', 'show', 'web', '1.0.0']);
    expect(stdout)
      .to.match(/^Status: +Published$/m)
      .and.match(/^site\/x\.conf +1 +[0-9a-f]{64}$/m);
    const answer = await hawser.admin.get('/api/v1/configurations/web/versions/1.0.0');
    expect((await cli.run(['config', 'show', 'web', '1.0.0', '--json'])).stdout).to.equal(`${answer.text}\n`);
    expectFailed(await cli.run(['config', 'show', 'none']), 1, /^hawserctl: not_found: /);
  });

  it('calls any route', async () => {
    const all = await cli.run(['api', 'get', 'nodes', '--all']);
    expect(JSON.parse(all.stdout)).to.have.length(1);
    const none = await cli.run(['api', 'GET', '/api/v1/nodes', '-F', 'fqdn=two']);
    expect(none.stdout.trim()).to.equal('[]');
    const put = await cli.run(['api', 'PUT', 'settings/validation', '-F', 'requireSemVer=false']);
    expect(JSON.parse(put.stdout)).to.have.property('requireSemVer', false);
    const body = { stdin: '{"requireSemVer":true}' };
    expect(
      JSON.parse((await cli.run(['api', 'PUT', 'settings/validation', '-f', '-'], body)).stdout),
    ).to.have.property('requireSemVer', true);
    expectFailed(
      await cli.run(['api', 'PUT', 'settings/validation', '-F', 'requireSemVer=true', '--if-match', '"x"']),
      1,
      /^hawserctl: precondition_failed: /,
    );
    const refused = await cli.run(['api', 'PUT', 'settings/validation', '-F', 'nonsense=true']);
    expect(refused.stderr).to.match(/^hawserctl: validation_failed: .*\n {2}\/.*: /);
    const file = await cli.run(['api', 'GET', 'configurations/web/versions/1.0.0/files/site/x.conf', '-i']);
    expect(file.stdout)
      .to.match(/^200\n/)
      .and.match(/^etag: /m)
      .and.match(/\nx$/);
    expect((await cli.run(['api', 'HEAD', 'nodes'])).stdout).to.match(/^x-total-count: 1$/m);
  });

  it('says what it cannot read', async () => {
    expectFailed(
      await cli.run(['api', 'PUT', 'settings', '-f', 'missing.json']),
      1,
      /^hawserctl: .*missing\.json cannot be read: ENOENT\.\n$/,
    );
  });

  it('prints completions', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout } = await cli.run(['completion', shell]);
      expect(code).to.equal(0);
      expect(stdout).to.include('config').and.match(/\n$/);
    }
  });
});
