// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import {
  addChild,
  addCompositeDraft,
  COMPOSITES,
  compositeVersionOf,
  publishComposite,
  publishWithChildren,
} from '../support/composites.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { cloneOf } from '../support/push-author.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import {
  doDeed,
  nodeInRing,
  prepareRings,
  RING_SETTING,
  type Rings,
  ROLLOUTS,
  rollOut,
  rolloutsOf,
  step,
} from '../support/rollouts.ts';
import { createScopeType, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started, startedForEach } from '../support/started.ts';
import { offerAgain, versionOf, withdraw } from '../support/withdrawals.ts';

const GATE = {
  ...{ minNodes: 1, successShare: 0.95, maxRegressions: 0, maxSilent: null, maxAbsent: null },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
};
const NONE = {
  ...{ offered: 0, taken: 0, success: 0, regression: 0 },
  ...{ alreadyBad: 0, silent: 0, absent: 0 },
};
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('rollouts by the API', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let rings: Rings;
  let name: string;
  let tests = 0;

  before(async () => {
    ({ admin } = hawser);
    await publishConfiguration(admin, 'early-bird', { '1.0.0': { [MAIN]: '{}' } });
    await draft('1.1.0', 'early-bird');
    await expectProblem(rollOut(admin, 'early-bird', '1.1.0'), 409, 'no_rings');
    rings = await prepareRings(hawser);
  });
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await nodeInRing(hawser, rings.canary, name);
  });

  const draft = (version: string, of = name, content = `# ${version}\n`) =>
    ok(201, addVersion(admin, of, { version }, { files: { [MAIN]: content } }));
  const begin = async (version: string, more = {}) => {
    await draft(version);
    return ok(201, rollOut(admin, name, version, more));
  };
  const rollout = (version: string) => `${rolloutsOf(name)}/${version}`;
  const show = (version: string) => ok(200, admin.get(rollout(version)));
  /** Without what changes as the nodes come. */
  const lasting = ({ steps, ...rest }: Record<string, unknown>) => rest;
  const stateOf = async (version: string) => (await show(version)).state;
  const bystander = async (username: string): Promise<Person> =>
    makeUser(hawser, {
      username,
      permissions: ['nodes.read', 'rollouts.manage'],
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });

  it('publish a draft into its rollout, with the defaults of the gate, and tell of it', async () => {
    await draft('1.1.0');
    const reply = await rollOut(admin, name, '1.1.0', { message: 'Port 8443\n' });
    const made = await ok(201, reply);
    expect(reply.headers['location']).to.equal(rollout('1.1.0'));
    const [first, second] = made.steps;
    expect(made).to.deep.include({
      ...{ configurationName: name, isComposite: false, version: '1.1.0', state: 'Running', step: 0 },
      ...{ onHalt: 'Keep', createdBy: 'admin' },
    });
    expect(Object.keys(made)).to.have.length(14);
    expect(made.cause).to.equal(null);
    expect(made.createdAt).to.match(TIME);
    const common = { percent: 100, gate: GATE, counts: NONE, endedAt: null };
    expect(first).to.deep.equal({ ring: 'canary', ...common, state: 'Open', startedAt: made.createdAt });
    expect(second).to.deep.equal({ ring: null, ...common, state: 'Waiting', startedAt: null });
    expect(made.history).to.deep.equal([
      {
        at: made.createdAt,
        actorName: 'admin',
        from: null,
        to: 'Running',
        reason: 'Port 8443',
        counts: NONE,
      },
    ]);
    expect(lasting(await show('1.1.0'))).to.deep.equal(lasting(made));
    const version = await ok(200, admin.get(versionOf(name, '1.1.0')));
    expect(version).to.include({ status: 'Published', publishedBy: 'admin', message: 'Port 8443' });

    const [canary, other] = [await hawser.registerNode(`c.${name}`), await hawser.registerNode(`o.${name}`)];
    await tagNode(hawser, canary.nodeId, rings.canary);
    await assign(hawser, canary, name);
    await assign(hawser, other, name);
    expect((await ok(200, poll(canary))).version).to.equal('1.1.0');
    expect((await ok(200, poll(other))).version).to.equal('1.0.0');
  });

  it('take the version that was just published, and no other published one', async () => {
    await draft('1.1.0');
    await ok(200, publish(admin, name, '1.1.0'));
    await expectProblem(rollOut(admin, name, '1.0.0'), 409, 'not_possible');
    await ok(201, rollOut(admin, name, '1.1.0'));
    await expectProblem(rollOut(admin, name, '1.1.0'), 409, 'rollout_running');
    await expectProblem(rollOut(admin, name, '9.0.0'), 404, 'not_found');
    await expectProblem(rollOut(admin, 'nothing', '9.0.0'), 404, 'not_found');
    await expectProblem(admin.get(rollout('1.0.0')), 404, 'not_found');
  });

  it('keep higher versions back unless they roll out too, and end with them', async () => {
    await begin('1.2.0');
    await draft('1.1.0');
    await draft('1.3.0');
    await expectProblem(rollOut(admin, name, '1.1.0'), 409, 'rollout_running');
    await expectProblem(publish(admin, name, '1.3.0'), 409, 'rollout_running');
    await ok(200, publish(admin, name, '1.1.0'));
    await ok(200, doDeed(admin, rollout('1.2.0'), 'pause'));
    await expectProblem(publish(admin, name, '1.3.0'), 409, 'rollout_running');
    await ok(201, rollOut(admin, name, '1.3.0'));
    expect(await stateOf('1.2.0')).to.equal('Superseded');
    const all = await ok(200, admin.get(rolloutsOf(name)));
    expect(all.map((each: { version: string }) => each.version)).to.deep.equal(['1.3.0', '1.2.0']);
    expect(lasting(all[0])).to.deep.equal(lasting(await show('1.3.0')));
    const running = await admin.get(`${rolloutsOf(name)}?state=running&take=1`);
    expect([running.headers['x-total-count'], running.json[0].version]).to.deep.equal(['1', '1.3.0']);
  });

  it('keep back a higher version that is to be offered again, and stay halted when their own is', async () => {
    await draft('1.2.0');
    await ok(200, publish(admin, name, '1.2.0'));
    await ok(200, withdraw(admin, name, '1.2.0'));
    await begin('1.1.0');
    await expectProblem(offerAgain(admin, name, '1.2.0'), 409, 'rollout_running');
    expect((await ok(200, admin.get(versionOf(name, '1.2.0')))).withdrawal).not.to.equal(null);
    await ok(200, withdraw(admin, name, '1.1.0'));
    await ok(204, offerAgain(admin, name, '1.2.0'));
    await ok(204, offerAgain(admin, name, '1.1.0'));
    expect(await stateOf('1.1.0')).to.equal('Halted');
    const node = await hawser.registerNode(`again-${name}.example.org`);
    await assign(hawser, node, name);
    expect((await ok(200, poll(node))).version).to.equal('1.2.0');
    await ok(200, withdraw(admin, name, '1.2.0'));
    expect((await ok(200, poll(node))).version).to.equal('1.0.0');
    await ok(200, doDeed(admin, rollout('1.1.0'), 'complete', 'Halted'));
    expect((await ok(200, poll(node))).version).to.equal('1.1.0');
  });

  it('keep back what is pushed, and show their branch to git', async () => {
    const client = gitClient(hawser);
    try {
      const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
      await begin('1.1.0');
      const author = await cloneOf(client, name, token);
      await author.commit({ [MAIN]: '# two' });
      await author.ok('tag', '-a', 'v1.2.0', '-m', 'Two');
      const refused = await author.push('v1.2.0');
      expect(refused.code).to.not.equal(0);
      expect(refused.output).to.include('rollout_running');
      expect(await author.ok('log', '--format=%s', 'origin/rollout/1.1.0')).to.include(
        `${name} 1.1.0: Started`,
      );
      await ok(200, doDeed(admin, rollout('1.1.0'), 'complete'));
      expect((await author.push('v1.2.0')).code).to.equal(0);
    } finally {
      client.close();
    }
  });

  it('refuse plans with their faults at their places', async () => {
    await draft('1.1.0');
    const faults = async (more: object) => {
      const { json } = await expectInvalid(rollOut(admin, name, '1.1.0', { ...more }));
      return json.errors.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
    };
    const again = [step('early', {}, 20), step('canary'), step('early', {}, 20)];
    expect(await faults({ steps: again })).to.deep.equal(['/steps/2/percent percent_order']);
    expect(await faults({ steps: [step('prod'), step(null, {}, 50), step(null, {}, 50)] })).to.deep.equal([
      '/steps/0/ring unknown_ring',
      '/steps/2/percent percent_order',
    ]);
    expect(await faults({ steps: [] })).to.deep.equal(['/steps too_small']);
    expect(await faults({ steps: [{ ring: null }] })).to.deep.equal(['/steps/0/gate invalid_type']);
    expect(await faults({ onHalt: undefined })).to.have.length(1);
    const wrong = { successShare: 2, minNodes: -1, other: 1 };
    expect(await faults({ steps: [{ ring: null, percent: 101, gate: wrong }] })).to.have.length(4);
    const timeless = await rollOut(admin, name, '1.1.0', { steps: [step(null, { bakeTime: '00:00:00' })] });
    expect([timeless.status, timeless.json.errors[0].path]).to.deep.equal([400, '/steps/0/gate/bakeTime']);
    expect((await ok(200, admin.get(versionOf(name, '1.1.0')))).status).to.equal('Draft');
    const capitals = await ok(201, rollOut(admin, name, '1.1.0', { steps: [step('CANARY')] }));
    expect(capitals.steps[0].ring).to.equal('canary');
  });

  it('take their rings in any order, and a ring again with a larger share', async () => {
    const steps = [step(null, {}, 50), step('early'), step(null), step('canary')];
    await nodeInRing(hawser, null, name);
    const made = await begin('1.1.0', { steps });
    expect(
      made.steps.map(({ ring, percent }: { ring: string; percent: number }) => [ring, percent]),
    ).to.deep.equal([
      [null, 50],
      ['early', 100],
      [null, 100],
      ['canary', 100],
    ]);
  });

  it('say beforehand how many nodes of each ring they would reach, by whatever way', async () => {
    await draft('1.1.0');
    const composite = `all-${name}`;
    await publishWithChildren(admin, composite, '1.0.0', [name]);
    await nodeInRing(hawser, rings.canary, composite, { isComposite: true });
    await nodeInRing(hawser, null, name);
    const pinned = await nodeInRing(hawser, null, name);
    await assign(hawser, pinned, name, { version: '1.0.0' });
    const expected = [
      { ring: 'canary', nodes: 2 },
      { ring: 'early', nodes: 0 },
      { ring: null, nodes: 1 },
    ];
    const reach = (version: string) => ok(200, admin.get(`${versionOf(name, version)}/rings`));
    expect(await reach('1.1.0')).to.deep.equal(expected);
    await ok(200, publish(admin, name, '1.1.0'));
    expect(await reach('1.1.0')).to.deep.equal(expected);
    await expectProblem(admin.get(`${versionOf(name, '9.9.9')}/rings`), 404, 'not_found');
  });

  it('publish by the rules for publishing', async () => {
    const block = (type: string) => `$schema: x\nparameters:\n  port:\n    type: ${type}\nresources: []\n`;
    await draft('1.1.0', name, block('string'));
    const { json } = await expectProblem(rollOut(admin, name, '1.1.0'), 409, 'incompatible_parameters');
    expect(json.compatibilityReport.breakingChanges).to.have.length(1);
    await expectProblem(admin.get(rollout('1.1.0')), 404, 'not_found');
    await draft('2.0.0', name, block('string'));
    await ok(201, rollOut(admin, name, '2.0.0'));
  });

  it('do what a person may do, in the states that allow it', async () => {
    await begin('1.1.0');
    const it = rollout('1.1.0');
    await expectProblem(doDeed(admin, it, 'resume'), 409, 'not_possible');
    await expectProblem(doDeed(admin, it, 'approve'), 409, 'not_possible');
    await expectProblem(doDeed(admin, it, 'pause', 'Paused'), 409, 'state_changed');
    expect(await ok(200, doDeed(admin, it, 'pause'))).to.include({ state: 'Paused' });
    await expectProblem(doDeed(admin, it, 'pause', 'Paused'), 409, 'not_possible');
    expect(await ok(200, doDeed(admin, it, 'resume', 'Paused'))).to.include({ state: 'Running' });
    expect(await ok(200, doDeed(admin, it, 'halt'))).to.include({ state: 'Halted' });
    await expectProblem(doDeed(admin, it, 'halt', 'Halted'), 409, 'not_possible');
    await expectProblem(rollOut(admin, name, '1.1.0'), 409, 'rollout_halted');
    expect(await ok(200, doDeed(admin, it, 'revert', 'Halted'))).to.include({ state: 'Halted' });
    const done = await ok(200, doDeed(admin, it, 'complete', 'Halted', 'It was the proxy.\n'));
    expect(done).to.include({ state: 'Completed' });
    await expectProblem(doDeed(admin, it, 'revert', 'Completed'), 409, 'not_possible');
    await expectProblem(rollOut(admin, name, '1.1.0'), 409, 'not_possible');
    await expectProblem(doDeed(admin, rollout('1.0.0'), 'halt'), 404, 'not_found');
    expect(
      done.history.map(({ from, to, reason }: Record<string, string>) => `${from} ${to}: ${reason}`),
    ).to.deep.equal([
      'null Running: ',
      'Running Paused: pause it',
      'Paused Running: resume it',
      'Running Halted: halt it',
      'Halted Halted: revert it',
      'Halted Completed: It was the proxy.',
    ]);
    const told = async () => {
      const events = await ok(200, admin.get('/api/v1/events'));
      return events
        .filter(
          ({ subject, type }: Record<string, string>) =>
            subject === `configurations/${name}` && type?.startsWith('rollout.'),
        )
        .map(({ type }: { type: string }) => type.slice('rollout.'.length));
    };
    await eventually(async () =>
      expect(await told()).to.deep.equal(['started', 'paused', 'resumed', 'halted', 'reverted', 'completed']),
    );
  });

  it('ask for a reason and for the state that was seen', async () => {
    await begin('1.1.0');
    const pause = `${rollout('1.1.0')}/pause`;
    for (const body of [{}, { reason: 'why' }, { expectedState: 'Running' }])
      await expectInvalid(admin.post(pause, body));
    await expectInvalid(admin.post(pause, { reason: ' \n', expectedState: 'Running' }));
    await expectInvalid(admin.post(pause, { reason: 'why', expectedState: 'Fine' }));
    expect(await stateOf('1.1.0')).to.equal('Running');
  });

  it('are approved by somebody other than the one who published', async () => {
    await begin('1.1.0', { steps: [step('canary', { approval: true }), step(null)] });
    await expectProblem(doDeed(admin, rollout('1.1.0'), 'approve'), 409, 'same_person');
    const olga = await bystander('olga');
    const approved = await ok(200, doDeed(olga, rollout('1.1.0'), 'approve'));
    expect(approved.history.at(-1)).to.include({ actorName: 'olga', from: 'Running', to: 'Running' });
    await expectProblem(doDeed(olga, rollout('1.1.0'), 'approve'), 409, 'not_possible');
  });

  it('are not completed past an approval that nobody has given', async () => {
    await begin('1.1.0', { steps: [step('canary', { approval: true }), step(null, { approval: true })] });
    const otto = await bystander('otto');
    const complete = () => doDeed(otto, rollout('1.1.0'), 'complete');
    await expectProblem(complete(), 409, 'approval_pending');
    await ok(200, doDeed(otto, rollout('1.1.0'), 'approve'));
    await expectProblem(complete(), 409, 'approval_pending');
    expect(await stateOf('1.1.0')).to.equal('Running');
  });

  it('start by If-Match of the version, so that what was looked at is what rolls out', async () => {
    await draft('1.1.0');
    const etag = async () => String((await admin.get(versionOf(name, '1.1.0'))).headers['etag']);
    const start = (value: string) =>
      admin.call('POST', rolloutsOf(name), {
        json: { version: '1.1.0', steps: [step('canary')], onHalt: 'Keep' },
        headers: { 'If-Match': value },
      });
    const before = await etag();
    const file = `${versionOf(name, '1.1.0')}/files/late.txt`;
    await ok(201, admin.call('PUT', file, { body: 'changed', headers: { 'Content-Type': 'text/plain' } }));
    await expectProblem(start(before), 412, 'precondition_failed');
    expect((await ok(200, admin.get(versionOf(name, '1.1.0')))).status).to.equal('Draft');
    await ok(201, start(await etag()));
  });

  it('are named as blockers by the check of a higher version, and as warnings by its preview', async () => {
    await begin('1.1.0');
    await draft('1.2.0');
    await draft('1.0.1');
    const check = (version: string) =>
      ok(200, admin.get(`${versionOf(name, version)}/publish-check`)).then(
        ({ canPublish, blockers }: { canPublish: boolean; blockers: { code: string }[] }) => [
          canPublish,
          ...blockers.map(({ code }) => code),
        ],
      );
    expect(await check('1.2.0')).to.deep.equal([false, 'rollout_running']);
    expect(await check('1.0.1')).to.deep.equal([true]);
    expect(await check('1.1.0')).to.deep.equal([false, 'already_published']);
    const changes = ['1.0.1', '1.2.0'].map((version) => {
      return { kind: 'PublishConfiguration', configurationName: name, version };
    });
    const preview = await admin.post('/api/v1/previews', { changes });
    expect(preview.status, preview.text).to.be.oneOf([201, 202]);
    expect(preview.json.warnings).to.have.length(1);
    expect(preview.json.warnings[0]).to.include({ code: 'rollout_running', path: '/changes/1' });
    expect(preview.json.warnings[0].message).to.include('1.1.0');
    expect((await ok(200, admin.get(`/api/v1/previews/${preview.json.id}`))).warnings).to.deep.equal(
      preview.json.warnings,
    );
  });

  it('are hidden in the list from those who may not read them', async () => {
    await begin('1.1.0');
    const permissions = ['nodes.read', 'rollouts.manage'] as const;
    const manager = await makeUser(hawser, { username: 'mia', permissions });
    expect(await ok(200, manager.get(ROLLOUTS))).to.deep.equal([]);
    const grants = [{ on: 'configuration', name, level: 'Read' }] as const;
    const reader = await makeUser(hawser, { username: 'rita', permissions, grants });
    const [seen, ...others] = await ok(200, reader.get(ROLLOUTS));
    expect(lasting(seen)).to.deep.equal(lasting(await show('1.1.0')));
    expect(others).to.deep.equal([]);
  });

  it('of everything are listed, the newest first, by state, name and kind', async () => {
    await begin('1.1.0');
    await publishWithChildren(admin, name, '2.0.0', [name]);
    await ok(201, addCompositeDraft(admin, name, '3.0.0'));
    await ok(201, addChild(admin, name, '3.0.0', name));
    await nodeInRing(hawser, rings.canary, name, { isComposite: true });
    await ok(201, rollOut(admin, name, '3.0.0', {}, COMPOSITES));
    const list = async (query: string) => {
      const found = await ok(200, admin.get(`${ROLLOUTS}?configurationName=${name}${query}`));
      return found.map((each: Record<string, string>) => `${each['isComposite']} ${each['version']}`);
    };
    expect(await list('')).to.have.members(['true 3.0.0', 'false 1.1.0']);
    expect(await list('&isComposite=true')).to.deep.equal(['true 3.0.0']);
    expect(await list('&state=Halted')).to.deep.equal([]);
    const times = (await ok(200, admin.get(ROLLOUTS))).map((each: { createdAt: string }) => each.createdAt);
    expect(times).to.deep.equal([...times].sort().reverse());
    await expectInvalid(admin.get(`${ROLLOUTS}?state=Fine`));
  });

  it('of composites are the same, with the rules of composites', async () => {
    await publishWithChildren(admin, name, '0.9.0', [name]);
    await ok(201, addCompositeDraft(admin, name, '1.0.0'));
    await expectProblem(rollOut(admin, name, '1.0.0', {}, COMPOSITES), 409, 'no_children');
    await ok(201, addChild(admin, name, '1.0.0', name));
    await nodeInRing(hawser, rings.canary, name, { isComposite: true });
    const steps = [step('canary', { approval: true }), step(null)];
    const made = await ok(201, rollOut(admin, name, '1.0.0', { steps }, COMPOSITES));
    expect(made).to.include({ configurationName: name, isComposite: true, state: 'Running' });
    expect((await ok(200, admin.get(compositeVersionOf(name, '1.0.0')))).status).to.equal('Published');
    await ok(201, addCompositeDraft(admin, name, '1.1.0'));
    await ok(201, addChild(admin, name, '1.1.0', name));
    await expectProblem(publishComposite(admin, name, '1.1.0'), 409, 'rollout_running');
    const path = `${rolloutsOf(name, COMPOSITES)}/1.0.0`;
    const olivia = await makeUser(hawser, {
      username: 'olivia',
      permissions: ['nodes.read', 'rollouts.manage'],
      grants: [
        { on: 'composite', name, level: 'Modify' },
        { on: 'configuration', name, level: 'Read' },
      ],
    });
    const deeds = [
      ['approve', 'Running', 'Running'],
      ['pause', 'Running', 'Paused'],
      ['resume', 'Paused', 'Running'],
      ['halt', 'Running', 'Halted'],
      ['revert', 'Halted', 'Halted'],
      ['complete', 'Halted', 'Completed'],
    ] as const;
    for (const [deed, before, state] of deeds)
      expect(await ok(200, doDeed(olivia, path, deed, before)), deed).to.include({ state });
    expect(await ok(200, admin.get(rolloutsOf(name, COMPOSITES)))).to.have.length(1);
    await ok(200, publishComposite(admin, name, '1.1.0'));
  });
});

describe('the scope type of the rings', () => {
  const hawser = startedForEach(startHawser);

  it('is none at first, and must be Restricted', async () => {
    const { admin } = hawser;
    expect(await ok(200, admin.get(RING_SETTING))).to.deep.equal({ rolloutScopeType: null });
    await createScopeType(hawser, 'Ring', { valueMode: 'Restricted' });
    await createScopeType(hawser, 'Free');
    const set = (rolloutScopeType: unknown) => admin.put(RING_SETTING, { rolloutScopeType });
    await expectProblem(set('Nothing'), 400, 'validation_failed: unknown_scope_type');
    for (const other of ['Free', 'Node', 'Default'])
      await expectProblem(set(other), 400, 'validation_failed: not_restricted');
    expect(await ok(200, set('ring'))).to.deep.equal({ rolloutScopeType: 'Ring' });
    expect(await ok(200, admin.put(RING_SETTING, {}))).to.deep.equal({ rolloutScopeType: 'Ring' });
    expect(await ok(200, set(null))).to.deep.equal({ rolloutScopeType: null });
  });

  it('and the values that steps name stay while a version rolls out', async () => {
    const { admin } = hawser;
    const { type, canary, early } = await prepareRings(hawser);
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: '{}' } });
    const { nodeId } = await nodeInRing(hawser, canary, 'web');
    await ok(201, rollOut(admin, 'web', '1.0.0'));
    const named = await expectProblem(admin.delete(`${SCOPE_TYPES}/${type}/values/${canary}`), 409, 'in_use');
    expect(named.json.detail).to.include('rolls out');
    await ok(204, admin.delete(`${SCOPE_TYPES}/${type}/values/${early}`));
    await expectProblem(admin.delete(`${SCOPE_TYPES}/${type}`), 409, 'in_use');
    await ok(200, admin.put(RING_SETTING, { rolloutScopeType: null }));
    await expectProblem(admin.delete(`${SCOPE_TYPES}/${type}`), 409, 'in_use');
    await ok(200, doDeed(admin, `${rolloutsOf('web')}/1.0.0`, 'pause'));
    await expectProblem(admin.delete(`${SCOPE_TYPES}/${type}/values/${canary}`), 409, 'in_use');
    await ok(200, doDeed(admin, `${rolloutsOf('web')}/1.0.0`, 'halt', 'Paused'));
    await ok(204, admin.delete(`/api/v1/nodes/${nodeId}`));
    await ok(204, admin.delete(`${SCOPE_TYPES}/${type}`));
  });

  it('must be there when a rollout starts', async () => {
    const { admin } = hawser;
    const { type } = await prepareRings(hawser);
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: '{}' } });
    await ok(204, admin.delete(`${SCOPE_TYPES}/${type}`));
    await expectProblem(rollOut(admin, 'web', '1.0.0'), 409, 'no_rings');
  });
});
