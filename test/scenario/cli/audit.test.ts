// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { startHawser } from '../../support/hawser.ts';
import { started } from '../../support/started.ts';

describe('the audit trail by hawserctl', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  const actions = async (...words: string[]): Promise<string[]> => {
    const { stdout } = await cli.run(['audit', 'list', ...words, '--json']);
    return JSON.parse(stdout).map(({ action }: { action: string }) => action);
  };

  before(async () => {
    for (let at = 0; at < 3; at++)
      await hawser.admin.post('/api/v1/groups', {
        name: `g${at}`,
        description: `line\nbreak \u001b[31m${at}`,
      });
    await hawser.client().post('/api/v1/auth/login', { username: 'admin', password: 'wrong' });
  });

  it('lists what was written after an entry, oldest first', async () => {
    const newest = await actions('--all');
    expect(await actions('--after', '0', '--all')).to.deep.equal(newest.reverse());
    const [first] = (await hawser.admin.get('/api/v1/audit?after=0&take=1')).json;
    expect(await actions('--after', first.id, '--all')).to.deep.equal(newest.slice(1));
    const cut = await cli.run(['audit', 'list', '--after', '0', '--limit', '2']);
    expect(cut.stderr).to.include('These are the first 2.');
  });

  it('lists who did what, newest first, in lines that nothing in them breaks', async () => {
    const { code, stdout, stderr } = await cli.run(['audit', 'list', '--action', 'group.created']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).to.match(/^TIME +WHO +ACTION +RESOURCE +FROM +DETAILS$/);
    expect(lines).to.have.length(4);
    for (const [at, line] of lines.slice(1).entries())
      expect(line).to.match(new RegExp(`^\\S+ \\S+ +admin +group\\.created +Group \\S+ .*"g${2 - at}"`));
    expect(stdout).to.not.include('\u001b');
  });

  it('shows so many as are asked for, and says that there are more', async () => {
    const few = await cli.run(['audit', 'list', '--limit', '2']);
    expect(few.stdout.trimEnd().split('\n')).to.have.length(3);
    expect(few.stderr).to.equal('These are the newest 2. --limit or --all shows more.\n');
    const all = await cli.run(['audit', 'list', '--all', '--json']);
    expect(all.stderr).to.equal('');
    expect(JSON.parse(all.stdout)).to.deep.equal((await hawser.admin.get('/api/v1/audit?take=1000')).json);
    const both = await cli.run(['audit', 'list', '--all', '--limit', '2']);
    expect(both.code).to.equal(2);
  });

  it('chooses by time, by who acted, and by what was acted on', async () => {
    expect(await actions('--user', 'Admin', '--resource-type', 'Group')).to.deep.equal(
      Array(3).fill('group.created'),
    );
    const [{ id }] = (await hawser.admin.get('/api/v1/groups')).json.filter(
      ({ name }: { name: string }) => name === 'g1',
    );
    expect(await actions('--resource-id', id)).to.deep.equal(['group.created']);
    expect(await actions('--to', '1h')).to.deep.equal([]);
    expect(await actions('--from', '1h', '--resource-type', 'Group')).to.have.length(3);
    const nobody = await cli.run(['audit', 'list', '--user', 'nobody']);
    expect(nobody).to.include({ code: 1, stderr: 'hawserctl: There is no user "nobody".\n' });
    expectFailed(await cli.run(['audit', 'list', '--from', 'soon']), 2, '--from takes a time such as ');
    const none = await cli.run(['audit', 'list', '--action', 'nothing.done']);
    expect(none).to.deep.equal({ code: 0, stdout: '', stderr: 'There are no such entries.\n' });
  });
});
