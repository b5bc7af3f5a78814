// everyday: SQLite
import { expect } from 'chai';
import { proposed, SETS } from '../../support/change-sets.ts';
import { expectFailed, rowsOf } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { addVersion, MAIN } from '../../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration } from '../../support/hawser.ts';
import { assign, poll, saveParameters } from '../../support/parameter-files.ts';
import { makeUser } from '../../support/people.ts';
import { publishing } from '../../support/previews.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

describe('hawserctl change', () => {
  const session = started(startCliSession);
  let node: NodeUnderTest;
  let name: string;
  let tests = 0;
  before(async () => {
    const type = await createScopeType(session.hawser, 'Environment');
    await createScopeValue(session.hawser, type, 'prod');
  });
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(session.hawser.admin, name, { '1.0.0': { [MAIN]: '{}' } });
    node = await session.hawser.registerNode(`n${tests}.example.com`);
    await assign(session.hawser, node, name);
    await ok(201, addVersion(session.hawser.admin, name, { version: '1.1.0' }));
  });

  const run = (...words: string[]) => session.cli.run(['change', ...words]);
  const create = async (...words: string[]): Promise<number> =>
    JSON.parse((await run('create', 'Faster web', ...words, '--json')).stdout).id;
  const see = (id: number) => ok(200, session.hawser.admin.get(`${SETS}/${id}`));
  const offered = async () => (await poll(node)).json.version;

  it('proposes drafts, tags and assignments, and shows them', async () => {
    await saveParameters(session.hawser, {
      configuration: name,
      version: '1.0.0',
      content: 'a: 1\n',
      publish: false,
    });
    const made = await run(
      ...['create', 'Faster web', '-m', 'They are slow', '--publish', `${name}@1.1.0`],
      ...['--publish-parameters', `${name}:Default@1.0.0`, '--tag', 'Environment/prod'],
      ...['--assign', name, '--node', `n${tests}.example.com`],
    );
    expect(made.code, made.stderr).to.equal(0);
    const id = Number(/^Change: +(\d+): Faster web$/m.exec(made.stdout)?.[1]);
    expect(made.stderr).to.include(`"hawserctl change preview ${id}"`);
    const { deeds, description } = await see(id);
    expect(description).to.equal('They are slow');
    expect(deeds.map(({ kind }: { kind: string }) => kind)).to.deep.equal([
      ...['PublishConfiguration', 'PublishParameters', 'Tag', 'Assign'],
    ]);
    const shown = await run('show', String(id));
    expect(shown).to.include({ code: 0, stderr: '' });
    expect(rowsOf(shown.stdout)).to.deep.include.members([
      ['State:', 'Open'],
      ['1', 'PublishConfiguration', `${name} 1.1.0`],
      ['2', 'PublishParameters', `${name} Default 1.0.0`],
      ['4', 'Assign', `${name} on 1 node`],
    ]);
    const { text } = await session.hawser.admin.get(`${SETS}/${id}`);
    expect((await run('show', String(id), '--json')).stdout).to.equal(`${text}\n`);
    const rows = rowsOf((await run('list', '--state', 'Open', '--configuration', name)).stdout);
    expect(rows.map((cells) => cells.slice(0, 4))).to.deep.equal([
      ['NO', 'STATE', 'TITLE', 'DEEDS'],
      [String(id), 'Open', 'Faster web', '4'],
    ]);
    expect((await run('list', '--approvable')).stderr).to.equal('There are no such changes.\n');
  });

  it('takes deeds of any kind from a file, and adds some to a set that is there', async () => {
    const folder = session.folder('deeds', {
      'deeds.yaml': `deeds:\n  - {kind: Withdraw, configurationName: ${name}, version: 1.0.0, reason: It is slow}\n`,
      'none.yaml': 'a: 1\n',
    });
    const id = await create('--publish', `${name}@1.1.0`);
    const added = await run('add', String(id), '-f', `${folder}/deeds.yaml`);
    expect(added.code, added.stderr).to.equal(0);
    expect(rowsOf(added.stdout)).to.deep.include(['2', 'Withdraw', `${name} 1.0.0 (It is slow)`]);
    const { deeds, title } = await see(id);
    expect([deeds.length, title]).to.deep.equal([2, 'Faster web']);
    expectFailed(await run('add', String(id), '-f', `${folder}/none.yaml`), 1, 'no list of deeds');
  });

  it('shows what it would do, asks, does it, and proposes what takes it back', async () => {
    const id = String(await create('--publish', `${name}@1.1.0`));
    const preview = await run('preview', id, '--nodes');
    expect(preview.code, preview.stderr).to.equal(0);
    expect(preview.stdout)
      .to.match(new RegExp(`^Change ${id} changes 1 of ${tests} nodes?;`))
      .and.to.include(`n${tests}.example.com`);
    const asked = await run('apply', id);
    expect(asked.code).to.equal(2);
    expect(asked.stderr).to.include(`Apply change ${id}, Faster web?`).and.to.include('--yes');
    expect(await offered()).to.equal('1.0.0');

    const applied = await run('apply', id, '--yes');
    expect(applied.code, applied.stderr).to.equal(0);
    expect(rowsOf(applied.stdout)).to.deep.include(['State:', 'Applied']);
    expect(await offered()).to.equal('1.1.0');
    expectFailed(await run('apply', id, '--yes', '--no-preview'), 1, 'not_possible');

    const back = await run('revert', id);
    expect(back.code, back.stderr).to.equal(0);
    expect(rowsOf(back.stdout)).to.deep.include(['Takes back:', `change ${id}`]);
    const own = /^Change: +(\d+)/m.exec(back.stdout)?.[1] ?? '';
    expect((await run('apply', own, '--yes')).code).to.equal(0);
    expect(await offered()).to.equal('1.0.0');
  });

  it('schedules it, which can be called off', async () => {
    const id = await create('--publish', `${name}@1.1.0`);
    const scheduled = await run('apply', String(id), '--at', '12h', '--yes');
    expect(scheduled.code, scheduled.stderr).to.equal(0);
    expect(scheduled.stdout).to.match(/^To be applied: +\d{4}-/m);
    expect((await see(id)).state).to.equal('Scheduled');
    expect(await offered()).to.equal('1.0.0');
    await ok(200, session.hawser.admin.delete(`/api/v1/change-sets/${id}/apply`));
    expect((await see(id)).state).to.equal('Open');
  });

  it('approves what somebody else proposes, takes that back, and passes what is missing with a reason', async () => {
    const protection = { approvals: 2, groupId: null, byChangeSetOnly: false };
    await ok(200, session.hawser.admin.put(`/api/v1/configurations/${name}/settings`, { protection }));
    const ann = await makeUser(session.hawser, {
      username: 'ann',
      permissions: ['nodes.read'],
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });
    await ok(201, addVersion(ann, name, { version: '1.2.0' }));
    const { id } = await proposed(ann, [publishing(name, '1.2.0')], { title: 'Faster web' });
    const asked = await run('approve', String(id));
    expect(asked.code).to.equal(2);
    expect(asked.stderr).to.include(`Approve change ${id}, Faster web?`);
    const approved = await run('approve', String(id), '--yes');
    expect(approved.code, approved.stderr).to.equal(0);
    expect(approved.stdout).to.include('1 approval is missing.');
    const shown = await run('show', String(id));
    expect(rowsOf(shown.stdout)).to.deep.include([name, '2', '-', '1']);
    expect(shown.stdout).to.match(/^Approved: .* by admin$/m);
    expectFailed(await run('apply', String(id), '--yes', '--no-preview'), 1, 'approvals_missing');
    expect((await run('approve', String(id), '--take-back')).code).to.equal(0);
    expect((await see(id)).approvals).to.deep.equal([]);
    const passed = await run('apply', String(id), '--yes', '--override', 'The site is down');
    expect(passed.code, passed.stderr).to.equal(0);
    expect(rowsOf(passed.stdout)).to.deep.include(['Override:', 'by admin: The site is down']);
    expect(await offered()).to.equal('1.2.0');
  });

  it('refuses what is no deed before anything is sent', async () => {
    for (const words of [
      [],
      ['--publish', name],
      ['--publish', `${name}@v1.1.0`],
      ['--publish-parameters', `${name}@1.1.0`],
      ['--node', `n${tests}.example.com`],
      ['--tag', 'Environment/prod'],
      ['--assign', name, '--assign-composite', name, '--node', `n${tests}.example.com`],
    ])
      expect((await run('create', 'Nothing', ...words)).code, words.join(' ')).to.equal(2);
    expectFailed(await run('show', 'web'), 2, 'no number of a change');
  });
});
