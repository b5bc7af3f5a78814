// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { publishConfiguration, startHawser } from '../../support/hawser.ts';
import { ok } from '../../support/replies.ts';
import { startedForEach } from '../../support/started.ts';

describe('retention by hawserctl', () => {
  const hawser = startedForEach(startHawser);
  const cli = startedForEach(() => signedInCli(hawser));

  const CLEANUP = ['retention', 'run', 'configurations', '--keep-versions', '1', '--keep-days', '0'];
  const versions = async () => {
    const { json } = await hawser.admin.get('/api/v1/configurations/web/versions');
    return json.map(({ version }: { version: string }) => version).sort();
  };

  beforeEach(async () => {
    const files = (text: string) => ({ 'main.dsc.yaml': `a: ${text}\n` });
    await publishConfiguration(hawser.admin, 'web', {
      ...{ '1.0.0-rc': files('1'), '1.0.0': files('2'), '1.1.0': files('3') },
    });
    hawser.clock.advance(1000);
  });

  it('lists what would be deleted, and then deletes it only if told so', async () => {
    const dry = await cli.run([...CLEANUP, '--keep-releases', 'no', '--dry-run']);
    expect({ code: dry.code, stderr: dry.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(dry.stdout)
      .to.match(/^web +1\.0\.0 /m)
      .and.match(/^web +1\.0\.0-rc /m)
      .and.match(/^Would delete 2 and keep 1\. Nothing was deleted\.$/m);
    expectFailed(
      await cli.run([...CLEANUP, '--keep-releases', 'no']),
      2,
      'Delete all configurations that retention does not keep?',
    );
    expect((await cli.runInTerminal([...CLEANUP, '--keep-releases', 'no'], ['n'])).code).to.equal(1);
    expect(await versions()).to.deep.equal(['1.0.0', '1.0.0-rc', '1.1.0']);
    const kept = await cli.run([...CLEANUP, '--yes']);
    expect(kept.stdout)
      .to.match(/^web +1\.0\.0-rc /m)
      .and.match(/^Deleted 1, kept 2\.$/m);
    expect(await versions()).to.deep.equal(['1.0.0', '1.1.0']);
    const result = JSON.parse((await cli.run([...CLEANUP, '--keep-releases', 'no', '-y', '--json'])).stdout);
    expect(result).to.include({ versionType: 'Configuration', isDryRun: false, deletedCount: 1 });
    expect(await versions()).to.deep.equal(['1.1.0']);
  });

  it('cleans up by the settings of the server where nothing is said', async () => {
    await hawser.admin.put('/api/v1/settings/retention', { keepVersions: 1, keepDays: 0 });
    const own = '/api/v1/configurations/web/settings/retention';
    await ok(200, hawser.admin.put(own, { keepVersions: 10 }));
    const run = ['retention', 'run', 'configurations', '--yes'];
    expect((await cli.run(run)).stdout).to.match(/^Deleted 0, kept 3\.$/m);
    await ok(204, hawser.admin.delete(own));
    const { stdout } = await cli.run(run);
    expect(stdout).to.match(/^Deleted 1, kept 2\.$/m);
    expect(await versions()).to.deep.equal(['1.0.0', '1.1.0']);
  });

  it('cleans up each kind, and lists what ran', async () => {
    for (const kind of ['configurations', 'composites', 'parameters', 'reports', 'status-events']) {
      const { code, stdout } = await cli.run(['retention', 'run', kind, '--dry-run']);
      expect({ code, stdout }).to.deep.include({ code: 0 });
      expect(stdout).to.match(/^Would delete 0 and keep \d+\. Nothing was deleted\.$/m);
    }
    await cli.run(['retention', 'run', 'reports', '--keep-count', '5', '--keep-days', '14', '--yes']);
    const { stdout } = await cli.run(['retention', 'list']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).to.have.length(7);
    expect(lines[1]).to.match(/ Report +hand +no +0 +0 +-$/);
    expect(lines[2]).to.match(/ StatusEvent +hand +yes +0 /);
    expect(
      (await cli.run(['retention', 'list', '--limit', '1'])).stdout.trimEnd().split('\n'),
    ).to.have.length(2);
    const json = await cli.run(['retention', 'list', '--json']);
    expect(json.stdout).to.equal(`${(await hawser.admin.get('/api/v1/retention/runs')).text}\n`);
    const none = await cli.run(['retention', 'list', '--to', '1d']);
    expect(none).to.deep.equal({ code: 0, stdout: '', stderr: 'No cleanup ran.\n' });
  });

  for (const words of [
    ['records'],
    ['reports', '--keep-versions', '3'],
    ['reports', '--keep-releases', 'no'],
    ['configurations', '--keep-count', '3'],
    ['configurations', '--keep-days', '-1'],
    ['configurations', '--keep-releases', 'perhaps'],
  ])
    it(`calls "retention run ${words.join(' ')}" wrong usage, and runs nothing`, async () => {
      expectFailed(await cli.run(['retention', 'run', ...words, '--yes']), 2, words.at(-2) ?? 'records');
      expect((await hawser.admin.get('/api/v1/retention/runs')).json).to.deep.equal([]);
    });
});
