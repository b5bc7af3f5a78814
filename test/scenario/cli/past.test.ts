// everyday: SQLite
import { expect } from 'chai';
import { MINUTE } from '../../../src/lib/clock.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { parseCsv } from '../../support/csv.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../../support/hawser.ts';
import { assign, saveParameters } from '../../support/parameter-files.ts';
import { offeredTo } from '../../support/running.ts';
import { started } from '../../support/started.ts';

const main = (text: string) => ({
  'main.dsc.yaml': `# ${text}\n$schema: x\nparameters: {port: {type: int}}\nresources: []\n`,
});

describe('hawserctl tells of the past', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));
  const run = (...words: string[]) => cli.run(words);
  const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout);
  let one: NodeUnderTest;
  let other: NodeUnderTest;
  let then: string;
  let checksums: [string, string];

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': main('one') });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 80}\n' });
    one = await hawser.registerNode('one.example.org');
    other = await hawser.registerNode('other.example.org');
    for (const node of [one, other]) await assign(hawser, node, 'web');
    const first = await offeredTo(one);
    hawser.clock.advance(MINUTE);
    then = new Date(hawser.clock.now()).toISOString();
    hawser.clock.advance(MINUTE);
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.0.1',
      content: 'parameters: {port: 81}\n',
    });
    checksums = [first, await offeredTo(one)];
  });

  it('of a node: what it ran when, and at a time', async () => {
    const { code, stdout } = await run('node', 'history', 'one.example.org');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^FROM .*\n.* now +web 1\.0\.0 +Told /);
    const rows = await json('node', 'history', one.nodeId);
    expect(rows.map(({ checksum }: { checksum: string }) => checksum)).to.deep.equal(
      [...checksums].reverse(),
    );
    const shown = await run('node', 'show', 'one.example.org', '--at', then);
    expect(shown.stdout).to.match(/Ran: +web 1\.0\.0\n/);
    expect(shown.stdout).to.match(/parameters of Default +1\.0\.0/);
    expect(await json('node', 'show', 'one.example.org', '--at', then)).to.include({
      checksum: checksums[0],
    });
    const nothing = await run('node', 'show', 'other.example.org', '--at', then);
    expect(nothing.code).to.equal(1);
    expect(nothing.stderr).to.include('nothing_ran');
    expect((await run('node', 'show', 'one.example.org', 'other.example.org', '--at', then)).code).to.equal(
      2,
    );
  });

  it('of the fleet, as a table and as CSV', async () => {
    const { stdout } = await run('fleet', '--at', then);
    expect(stdout).to.match(/^NODE .*\none\.example\.org +web 1\.0\.0 +Told /);
    const filters = ['--configuration', 'web', '--version', '1.0.0'];
    const sheet = parseCsv((await run('fleet', '--at', then, ...filters, '--csv')).stdout);
    expect(sheet.map(([, fqdn]) => fqdn)).to.deep.equal(['fqdn', 'one.example.org']);
    expect(await json('fleet', '--version', '9.0.0')).to.deep.equal([]);
  });

  it('of two nodes, or one at two times', async () => {
    const { code, stdout } = await run('node', 'diff', 'one.example.org', '--at', then);
    expect(code).to.equal(0);
    expect(stdout).to.match(/\/parameters\/port +80 +81\n/);
    expect(stdout).to.match(/parameters\.yaml +Modified +\+1 -1/);
    const same = await run('node', 'diff', 'one.example.org', 'other.example.org');
    expect(same.stdout).to.match(/Right: +other\.example\.org is offered web 1\.0\.0\n/);
    expect(same.stderr).to.include('All files are the same.');
    const times = ['--at', then, '--right-at', then];
    expect(await json('node', 'diff', 'one.example.org', 'one.example.org', ...times)).to.deep.include({
      files: [],
    });
  });
});
