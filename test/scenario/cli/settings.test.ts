// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { createToken, startHawser } from '../../support/hawser.ts';
import { started } from '../../support/started.ts';

describe('the settings of the server by hawserctl', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  const run = (...words: string[]) => cli.run(['settings', ...words]);
  const read = async (section: string) => (await hawser.admin.get(`/api/v1/settings${section}`)).json;

  it('shows all of them, or one section', async () => {
    const { code, stdout } = await run('show');
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^SECTION +SETTING +VALUE\n/)
      .and.match(/^server +stalenessMultiplier +2$/m)
      .and.match(/^lcm-defaults +defaultConfigurationMode +-$/m)
      .and.match(/^validation +requireSemVer +true$/m)
      .and.match(/^retention +keepVersions +10$/m);
    expect(JSON.parse((await run('show', '--json')).stdout)).to.deep.equal({
      server: await read(''),
      'lcm-defaults': await read('/lcm-defaults'),
      validation: await read('/validation'),
      retention: await read('/retention'),
      rollouts: await read('/rollouts'),
    });
    const one = await run('show', 'validation');
    expect(one.stdout).to.include('requireSemVer').and.not.include('keepVersions');
    const answer = await hawser.admin.get('/api/v1/settings/validation');
    expect((await run('show', 'validation', '--json')).stdout).to.equal(`${answer.text}\n`);
  });

  it('changes numbers, texts, switches, and takes a default away with null', async () => {
    const before = await read('/retention');
    const { code, stdout } = await run('set', 'keepVersions=20', 'enabled=true');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^retention +keepVersions +20$/m);
    expect(await read('/retention')).to.deep.equal({ ...before, keepVersions: 20, enabled: true });
    await run('set', 'defaultConfigurationMode=Monitor');
    expect(await read('/lcm-defaults')).to.include({ defaultConfigurationMode: 'Monitor' });
    await run('set', 'defaultConfigurationMode=null');
    expect(await read('/lcm-defaults')).to.include({ defaultConfigurationMode: null });
    const { stdout: json } = await run('set', 'stalenessMultiplier=3', '--json');
    expect(JSON.parse(json))
      .to.deep.equal(await read(''))
      .and.include({ stalenessMultiplier: 3 });
  });

  it('changes nothing where a setting does not exist, or they are of several sections', async () => {
    const before = await read('/retention');
    const unknown = await run('set', 'keepVersions=7', 'keepAges=7');
    expect({ code: unknown.code, stdout: unknown.stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(unknown.stderr).to.include('There is no setting "keepAges", but ').and.include('keepDays');
    expectFailed(
      await run('set', 'keepVersions=7', 'requireSemVer=false'),
      2,
      'settings of retention and validation',
    );
    const written = await run('set', 'keepVersions');
    expect(written.code).to.equal(2);
    expect(written.stderr).to.equal('hawserctl: A setting is written as name=value.\n');
    const section = await run('set', 'retention', 'keepVersions=7');
    expect(section.code).to.equal(2);
    expect(section.stderr).to.include('"retention" is a section').and.include('NAME=VALUE');
    expect(await read('/retention')).to.deep.equal(before);
  });

  it('passes on which value the server refuses', async () => {
    const { code, stderr } = await run('set', 'keepVersions=-1');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^hawserctl: validation_failed: .*\n {2}\/keepVersions: /);
    const token = await createToken(hawser.client(), hawser.session, ['server.settings.read']);
    expectFailed(
      await cli.run(['settings', 'set', 'keepDays=1'], { env: { HAWSER_TOKEN: token } }),
      1,
      /^hawserctl: forbidden: .*server\.settings\.write/,
    );
  });
});
