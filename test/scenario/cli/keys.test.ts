// everyday: SQLite
import { expect } from 'chai';
import { type Cli, expectFailed, makeCli } from '../../support/cli.ts';
import {
  ALL_SCOPES,
  createToken,
  type Hawser,
  publishConfiguration,
  startHawser,
} from '../../support/hawser.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { signerLine } from '../../support/signed-tags.ts';
import { newSshKey } from '../../support/ssh-keys.ts';

const DAY = 86_400_000;

describe('registration keys by hawserctl', () => {
  let hawser: Hawser;
  let cli: Cli;

  const keys = async () => (await hawser.admin.get('/api/v1/admin/registration-keys')).json;
  const start = async (settings: Record<string, string> = {}) => {
    hawser = await startHawser(settings);
    cli = await makeCli();
    cli.signIn(hawser.target(), await createToken(hawser.client(), hawser.session, ALL_SCOPES));
  };
  afterEach(async () => {
    cli.close();
    await hawser.close();
  });

  it('gives the signers of a file to the key', async () => {
    await start();
    const signers = signerLine(newSshKey());
    cli.write('allowed_signers', signers);
    const { code, stderr } = await cli.run(['key', 'create', '--signers', 'allowed_signers']);
    expect(code, stderr).to.equal(0);
    expect((await keys())[0]).to.include({ signers });
    cli.write('faulty', 'nobody\n');
    const faulty = await cli.run(['key', 'create', '--signers', 'faulty']);
    expect(faulty).to.include({ stdout: '' });
    expect(faulty.stderr).to.include('Line 1');
  });

  it('prints a new key alone on stdout, and shows its prefix and nothing more ever after', async () => {
    await start();
    const words = ['--max-uses', '20', '--expires', '12h', '--description', 'web'];
    const { code, stdout, stderr } = await cli.run(['key', 'create', ...words]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^reg_[\w-]{43}\n$/);
    expect(stderr).to.match(/^It registers 20 nodes until .*, and is shown this once:\n$/);
    const [key] = await keys();
    expect(key).to.include({ maxUses: 20, description: 'web', allowReregistration: false });
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).to.be.closeTo(DAY / 2, 60_000);
    const list = await cli.run(['key', 'list']);
    expect(list.stdout.split('\n')[1]).to.match(
      new RegExp(`^${key.keyPrefix} +valid +0 of 20 +.* web +${key.id}$`),
    );
    expect(list.stdout).to.not.include(stdout.trim());
    const json = await cli.run(['key', 'list', '--json', '--filter', 'description=w*']);
    expect(JSON.parse(json.stdout)).to.deep.equal([key]);
    const none = await cli.run(['key', 'list', '--filter', 'isRevoked=true']);
    expect(none).to.deep.equal({ code: 0, stdout: '', stderr: 'There are no such keys.\n' });
  });

  it('prints the line that joins a machine, which is the one that the server makes', async () => {
    await start({ HAWSER_PUBLIC_URL: 'https://hawser.example:8443' });
    const { code, stdout, stderr } = await cli.run(['key', 'create', '--join', '--max-uses', '1']);
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^[^\n]+\n$/)
      .and.include('https://hawser.example:8443')
      .and.match(/reg_[\w-]{43}/);
    expect(stderr).to.match(/^It registers 1 node until /);
    const made = JSON.parse((await cli.run(['key', 'create', '--join', '--json'])).stdout);
    expect(made.line).to.equal(made.joinCommand).and.include(made.key);
    expect(made.script).to.match(/^#!\/bin\/sh\n/);
    const plain = await cli.run(['key', 'create']);
    expect(plain.stdout).to.match(/^reg_[\w-]{43}\n$/);
    const windows = await cli.run(['key', 'create', '--join', '--shell', 'powershell']);
    expect(windows.stdout)
      .to.match(/^[^\n]+\n$/)
      .and.include('OpenDscLcm');
    expect((await cli.run(['key', 'create', '--shell', 'sh'])).code).to.equal(2);
  });

  it('prints it too where the server knows no address but that of the request', async () => {
    await start();
    const { code, stdout } = await cli.run(['key', 'create', '--join']);
    expect(code).to.equal(0);
    expect(stdout).to.include(`'https://localhost:${hawser.target().port}'`).and.include('HAWSER_PUBLIC_URL');
  });

  it('says why there is no line, and leaves no key behind', async () => {
    await start({ HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: 'http://localhost:8080' });
    const { code, stdout, stderr } = await cli.run(['key', 'create', '--join']);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('no_join_line').and.include('HAWSER_PUBLIC_URL').and.not.match(/reg_/);
    expect((await keys()).map(({ isRevoked }: { isRevoked: boolean }) => isRevoked)).to.deep.equal([true]);
  });

  it('revokes one key without asking, and several only if told so', async () => {
    await start();
    for (let at = 0; at < 3; at++) await hawser.admin.post('/api/v1/admin/registration-keys', {});
    const [first, second, third] = await keys();
    const revoked = async () => (await keys()).filter((key: { isRevoked: boolean }) => key.isRevoked).length;
    expect(await cli.run(['key', 'revoke', first.keyPrefix])).to.deep.equal({
      ...{ code: 0, stdout: `Revoked the key ${first.keyPrefix}.\n`, stderr: '' },
    });
    expect(await revoked()).to.equal(1);
    const both = ['key', 'revoke', second.id, third.keyPrefix];
    const unasked = await cli.run(both);
    expect({ code: unasked.code, stdout: unasked.stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(unasked.stderr)
      .to.include(`Revoke 2 keys: ${second.keyPrefix}, ${third.keyPrefix}?`)
      .and.include('--yes');
    expect((await cli.runInTerminal(both, ['n'])).code).to.equal(1);
    expect(await revoked()).to.equal(1);
    expect((await cli.runInTerminal(both, ['y'])).code).to.equal(0);
    expect(await revoked()).to.equal(3);
    const list = await cli.run(['key', 'list']);
    expect(list.stdout.match(/ revoked /g)).to.have.length(3);
  });

  it('does not repeat a key that was given where its prefix belongs', async () => {
    await start();
    const secret = (await hawser.admin.post('/api/v1/admin/registration-keys', {})).json.key;
    const { code, stderr } = await cli.run(['key', 'revoke', secret]);
    expect(code).to.equal(1);
    expect(stderr).to.equal('hawserctl: There is no key "reg_…".\n');
  });

  it('passes on what the server refuses, and refuses what is no number or time itself', async () => {
    await start();
    expectFailed(
      await cli.run(['key', 'create', '--expires', '2020-01-01']),
      1,
      /^hawserctl: validation_failed: .*\n {2}\/expiresAt: /,
    );
    for (const words of [
      ['--max-uses', 'many'],
      ['--expires', 'soon'],
    ]) {
      expectFailed(await cli.run(['key', 'create', ...words]), 2, `${words[0]} takes a `);
    }
    const forbidden = await createToken(hawser.client(), hawser.session, ['nodes.read']);
    expectFailed(
      await cli.run(['key', 'create'], { env: { HAWSER_TOKEN: forbidden } }),
      1,
      /^hawserctl: forbidden: .*registration-keys\.manage/,
    );
    expect(await keys()).to.deep.equal([]);
  });

  it('makes a key that says what its nodes become', async () => {
    await start();
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'a: 1\n' } });
    const type = await createScopeType(hawser, 'Environment');
    const prod = await createScopeValue(hawser, type, 'prod');
    const words = [
      '--configuration',
      'web',
      '--major',
      '1',
      '--value',
      'environment/prod',
      '--fqdn',
      'Web-*.example',
    ];
    expect((await cli.run(['key', 'create', ...words])).code).to.equal(0);
    const assignment = { configurationName: 'web', isComposite: false, majorVersion: 1 };
    expect((await keys())[0].profile).to.deep.equal({
      assignment: { ...assignment, prereleaseChannel: null, version: null },
      ...{ scopeValueIds: [prod], fqdnPattern: 'web-*.example' },
    });
    expect((await cli.run(['key', 'list'])).stdout).to.include('web and 1 tag to web-*.example');
    expectFailed(await cli.run(['key', 'create', '--major', '1']), 2, '--configuration');
    const both = ['--configuration', 'web', '--major', '1', '--version', '1.0.0'];
    expectFailed(await cli.run(['key', 'create', ...both]), 2, '--version is exactly one version');
    expectFailed(await cli.run(['key', 'create', '--configuration', 'nothing']), 1, 'not_found');
    expect(await keys()).to.have.length(1);
  });
});
