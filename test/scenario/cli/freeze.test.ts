// full: SQLite
import { expect } from 'chai';
import { type Cli, makeCli } from '../../support/cli.ts';
import { ALL_SCOPES, createToken, type Hawser, startHawser } from '../../support/hawser.ts';

describe('a freeze by hawserctl', () => {
  let hawser: Hawser;
  let cli: Cli;

  const run = (...words: string[]) => cli.run(['freeze', ...words]);

  before(async () => {
    hawser = await startHawser();
    cli = await makeCli();
    cli.signIn(hawser.target(), await createToken(hawser.client(), hawser.session, ALL_SCOPES));
  });
  after(async () => {
    cli.close();
    await hawser.close();
  });

  it('is set with an end, shown, and ended', async () => {
    expect((await run('show')).stdout).to.equal('Nothing is frozen.\n');
    const endless = await run('set', 'Christmas sales');
    expect(endless.code).to.equal(2);
    expect(endless.stderr).to.include('A freeze needs an end: say --until.');
    const set = await run('set', '--until', '12h', 'Christmas sales');
    expect({ code: set.code, stderr: set.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(set.stdout).to.match(/^Frozen until \S+ \S+ by admin: Christmas sales\n$/);
    expect((await run('show')).stdout).to.equal(set.stdout);
    const refused = await cli.run(['settings', 'set', 'defaultConfigurationMode=Monitor']);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('frozen').and.to.include('Christmas sales');
    expect((await run('end')).code).to.equal(0);
    expect(JSON.parse((await run('show', '--json')).stdout)).to.include({ isFrozen: false });
    const far = await run('set', '--until', '91d', 'for ever');
    expect(far.code).to.equal(1);
    expect(far.stderr).to.include('at most 90 days ahead');
  });
});
