// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { startHawser } from '../../support/hawser.ts';
import { started } from '../../support/started.ts';

describe('a freeze by hawserctl', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  const run = (...words: string[]) => cli.run(['freeze', ...words]);

  it('is set with an end, shown, and ended', async () => {
    expect((await run('show')).stdout).to.equal('Nothing is frozen.\n');
    expectFailed(await run('set', 'Christmas sales'), 2, 'A freeze needs an end: say --until.');
    const set = await run('set', '--until', '12h', 'Christmas sales');
    expect({ code: set.code, stderr: set.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(set.stdout).to.match(/^Frozen until \S+ \S+ by admin: Christmas sales\n$/);
    expect((await run('show')).stdout).to.equal(set.stdout);
    const refused = await cli.run(['settings', 'set', 'defaultConfigurationMode=Monitor']);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('frozen').and.to.include('Christmas sales');
    expect((await run('end')).code).to.equal(0);
    expect(JSON.parse((await run('show', '--json')).stdout)).to.include({ isFrozen: false });
    expectFailed(await run('set', '--until', '91d', 'for ever'), 1, 'at most 90 days ahead');
  });
});
