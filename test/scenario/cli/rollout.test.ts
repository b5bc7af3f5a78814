// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { publishWithChildren } from '../../support/composites.ts';
import { addVersion, MAIN } from '../../support/configurations.ts';
import { eventually } from '../../support/eventually.ts';
import { publishConfiguration } from '../../support/hawser.ts';
import { saveParameters } from '../../support/parameter-files.ts';
import { makeUser } from '../../support/people.ts';
import { ok } from '../../support/replies.ts';
import { nodeInRing, prepareRings, type Rings, rollOut, rolloutsOf, step } from '../../support/rollouts.ts';
import { started } from '../../support/started.ts';

describe('hawserctl rollout', () => {
  const session = started(startCliSession);
  let rings: Rings;
  let name: string;
  let tests = 0;
  before(async () => {
    rings = await prepareRings(session.hawser);
  });
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(session.hawser.admin, name, { '1.0.0': { [MAIN]: '{}' } });
    await nodeInRing(session.hawser, rings.canary, name);
    await ok(201, addVersion(session.hawser.admin, name, { version: '1.1.0' }));
  });

  const run = (...words: string[]) => session.cli.run(['rollout', ...words]);
  const show = () => ok(200, session.hawser.admin.get(`${rolloutsOf(name)}/1.1.0`));
  const cells = (text: string) => text.split('\n').map((line) => line.split(/ {2,}/));

  it('starts by rings and a gate for all of them, and shows how it goes', async () => {
    const options = [
      '--min-nodes',
      '0',
      '--success-share',
      '0.5',
      '--max-silent',
      '3',
      '--max-absent',
      '2',
      '--approval',
    ];
    const begun = await run(
      ...['start', name, '1.1.0', '--step', 'canary', '--step', '@rest:10', '--on-halt', 'Revert'],
      ...[...options, '--bake-time', 'PT2H', '-m', 'Port 8443'],
    );
    expect(begun.code, begun.stderr).to.equal(0);
    expect(begun.stderr).to.include(`"hawserctl rollout status ${name}"`);
    const { steps, onHalt, history } = await show();
    expect(onHalt).to.equal('Revert');
    expect(history[0].reason).to.equal('Port 8443');
    expect(steps[1].gate).to.deep.equal({
      ...{ minNodes: 0, successShare: 0.5, maxRegressions: 0, maxSilent: 3, maxAbsent: 2 },
      ...{ bakeTime: '02:00:00', deadline: '1.00:00:00', approval: true },
    });

    const shown = await run('status', name);
    expect(shown).to.include({ code: 0, stderr: '' });
    // The counts change as the nodes come.
    const withoutCounts = (text: string) => text.replace(/^canary .*$/m, '');
    expect(withoutCounts(shown.stdout)).to.equal(withoutCounts(begun.stdout));
    const rows = cells(shown.stdout);
    expect(rows.slice(0, 4)).to.deep.equal([
      ['Rollout:', `${name} 1.1.0`],
      ['State:', 'Running'],
      ['Step:', '1 of 2'],
      ['On halt:', 'Revert'],
    ]);
    expect(rows.find(([ring]) => ring === 'canary')?.slice(0, 2)).to.deep.equal(['canary', 'Open']);
    expect(rows.find(([ring]) => ring === '@rest:10')?.[1]).to.equal('Waiting');
    expect(rows.at(-2)?.slice(1)).to.deep.equal(['admin', '-', 'Running', 'Port 8443']);
    await eventually(async () => {
      const { text } = await session.hawser.admin.get(`${rolloutsOf(name)}/1.1.0`);
      expect((await run('status', name, '1.1.0', '--json')).stdout).to.equal(`${text}\n`);
    });
  });

  it('starts by a plan in YAML or JSON', async () => {
    const yaml =
      'onHalt: Keep\nsteps:\n  - ring: canary\n    gate: {minNodes: 2}\n  - ring: null\n    gate: {}\n';
    const folder = session.folder('plans', {
      ...{ 'plan.yaml': yaml, 'plan.json': '{"steps": [{"ring": "early"}]}', 'bad.yaml': 'a: [' },
    });
    const bad = await run('start', name, '1.1.0', '--plan', `${folder}/bad.yaml`);
    expect(bad).to.include({ code: 1, stdout: '' });
    const refused = await run('start', name, '1.1.0', '--plan', `${folder}/plan.json`, '--on-halt', 'Keep');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('validation_failed').and.include('/steps/0/gate');
    const both = await run('start', name, '1.1.0', '--plan', `${folder}/plan.yaml`, '--step', 'canary');
    expect(both.code).to.equal(2);
    expect((await run('start', name, '1.1.0', '--plan', `${folder}/plan.yaml`)).code).to.equal(0);
    const { steps } = await show();
    expect([steps[0].ring, steps[0].gate.minNodes, steps[1].ring]).to.deep.equal(['canary', 2, null]);
  });

  it('refuses what is no plan before anything is sent', async () => {
    for (const words of [
      ['--on-halt', 'Keep'],
      ['--step', 'canary'],
      ['--step', 'canary:x', '--on-halt', 'Keep'],
      ['--step', 'canary', '--on-halt', 'Keep', '--min-nodes', 'x'],
      ['--step', 'canary', '--on-halt', 'Sometimes'],
    ])
      expect((await run('start', name, '1.1.0', ...words)).code, words.join(' ')).to.equal(2);
    expect((await run('pause', name, '1.1.0')).code).to.equal(2);
  });

  it('lists the nodes of the rings that have opened, and says why it is paused', async () => {
    await run('start', name, '1.1.0', '--step', 'canary', '--step', '@rest', '--on-halt', 'Keep');
    const node = /^n0\.\d+\.example\.org +1 +Absent +- +- +-$/m;
    await eventually(async () => expect((await run('nodes', name, '1.1.0')).stdout).to.match(node), 30_000);
    const none = await run('nodes', name, '1.1.0', '--step', '1', '--outcome', 'Regression');
    expect(none).to.include({ code: 0, stderr: 'There are no such nodes.\n' });
    expect((await run('nodes', name, '1.1.0', '--step', '0')).code).to.equal(2);
    const paused = await run('pause', name, '1.1.0', '-m', 'The load balancer is replaced');
    expect(cells(paused.stdout)[2]).to.deep.equal([
      ...['Why:', 'admin has paused it: The load balancer is replaced'],
    ]);
  });

  it('does what the API does, for the state that it has read', async () => {
    await run('start', name, '1.1.0', '--step', 'canary', '--on-halt', 'Keep');
    for (const [deed, state] of [
      ['pause', 'Paused'],
      ['resume', 'Running'],
      ['halt', 'Halted'],
      ['revert', 'Halted'],
      ['complete', 'Completed'],
    ] as const) {
      const done = await run(deed, name, '1.1.0', '-m', `${deed} it`);
      expect(done, deed).to.include({ code: 0, stderr: '' });
      expect(cells(done.stdout)[1]).to.deep.equal(['State:', state]);
    }
    expectFailed(await run('approve', name, '1.1.0', '-m', 'fine'), 1, 'not_possible: ');
    expect((await show()).history.at(-1).reason).to.equal('complete it');
  });

  it('approves what somebody else rolls out', async () => {
    const olga = await makeUser(session.hawser, {
      username: 'olga',
      permissions: ['nodes.read', 'rollouts.manage'],
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });
    const steps = [step('canary', { approval: true }), step(null)];
    await ok(201, rollOut(olga, name, '1.1.0', { steps }));
    const approved = await run('approve', name, '1.1.0', '-m', 'The canaries are fine');
    expect(approved).to.include({ code: 0, stderr: '' });
    expect((await show()).history.at(-1)).to.include({ actorName: 'admin', reason: 'The canaries are fine' });
  });

  it('takes parameter files beside the version, or alone, and its key', async () => {
    const { hawser } = session;
    name += '-files';
    const files = { [MAIN]: '$schema: x\nparameters:\n  port: {type: int}\nresources: []\n' };
    await publishConfiguration(hawser.admin, name, { '1.0.0': files });
    await ok(
      201,
      addVersion(hawser.admin, name, { version: '1.1.0' }, { files: { ...files, 'n.txt': '1' } }),
    );
    await nodeInRing(hawser, rings.canary, name);
    const content = 'parameters:\n  port: 1\n';
    await saveParameters(hawser, { configuration: name, content, publish: false });
    const plan = ['--step', 'canary', '--bake-time', '10:00:00', '--on-halt', 'Keep'];
    expectFailed(await run('start', name, '--parameter', 'Default', ...plan), 2, '--parameter');
    expectFailed(await run('start', name, ...plan), 2, 'Say what is to roll out');
    const begun = await run('start', name, '--parameter', 'Default@1.0.0', ...plan);
    expect(begun.code, begun.stderr).to.equal(0);
    expect(begun.stderr).to.include(`"hawserctl rollout status ${name} parameters@1"`);
    const shown = await run('status', name, 'parameters@1');
    expect(cells(shown.stdout).slice(0, 3)).to.deep.equal([
      ['Rollout:', `${name} parameters@1`],
      ['Parameters:', 'Default 1.0.0'],
      ['State:', 'Running'],
    ]);
    expect((await run('nodes', name, 'parameters@1')).code).to.equal(0);
    expect((await run('complete', name, 'parameters@1', '-m', 'x')).code).to.equal(0);
    await saveParameters(hawser, { configuration: name, version: '1.0.1', content, publish: false });
    const together = await run('start', name, '1.1.0', '--parameter', 'Default@1.0.1', ...plan);
    expect(together.code, together.stderr).to.equal(0);
    expect((await show()).parameters).to.deep.equal([
      { scopeTypeName: 'Default', scopeValue: null, version: '1.0.1' },
    ]);
  });

  it('lists rollouts, and knows composites', async () => {
    const { admin } = session.hawser;
    await publishWithChildren(admin, name, '2.0.0', [name]);
    await nodeInRing(session.hawser, null, name, { isComposite: true });
    expect(await run('status', name, '--composite')).to.include({ code: 1, stdout: '' });
    const words = ['--composite', '--step', '@rest', '--on-halt', 'Keep'];
    expect((await run('start', name, '2.0.0', ...words)).stderr).to.include(' --composite"');
    expect((await run('pause', name, '2.0.0', '--composite', '-m', 'x')).code).to.equal(0);
    const rows = cells((await run('list', name)).stdout);
    expect(rows[0]?.slice(0, 4)).to.deep.equal(['NAME', 'COMPOSITE', 'VERSION', 'STATE']);
    expect(rows[1]?.slice(0, 6)).to.deep.equal([name, 'yes', '2.0.0', 'Paused', '1 of 1', '@rest']);
    expect(rows).to.have.length(3);
    const none = await run('list', name, '--state', 'Superseded');
    expect([none.code, none.stderr]).to.deep.equal([0, 'There are no such rollouts.\n']);
  });
});
