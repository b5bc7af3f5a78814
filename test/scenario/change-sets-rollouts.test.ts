// full: SQLite, PostgreSQL
/** Change sets that start rollouts: what they publish reaches the nodes ring by ring. */

import { expect } from 'chai';
import { allEvents, propose, proposed, SETS, setOf, unprotected } from '../support/change-sets.ts';
import type { Reply } from '../support/client.ts';
import { addChild, addCompositeDraft, COMPOSITES, publishWithChildren } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { untilNumbered } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  configurationPath,
  poll,
  pullBundle,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { PREVIEWS, publishing } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  doDeed,
  nodeInRing,
  prepareRings,
  type Rings,
  rollOut,
  rolloutsOf,
  step,
} from '../support/rollouts.ts';
import { started } from '../support/started.ts';

const DOCUMENT = '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json\nresources: []\n';
/** A step waits until nodes report. */
const STEPS = [step('canary', { minNodes: 1 }), step(null, {})];

describe('a change set that starts a rollout', () => {
  const hawser = started(startHawser);
  let rings: Rings;
  let name: string;
  let nodes: NodeUnderTest[];
  let tests = 0;
  before(async () => {
    rings = await prepareRings(hawser);
  });
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: DOCUMENT } });
    await saveParameters(hawser, { configuration: name, content: 'parameters:\n  n: 0\n' });
    nodes = [await nodeInRing(hawser, rings.canary, name), await nodeInRing(hawser, null, name)];
    await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }));
    await saveParameters(hawser, {
      ...{ configuration: name, version: '1.0.1', content: 'parameters:\n  n: 1\n', publish: false },
    });
  });

  const starting = (more: object = {}) => ({
    ...{ kind: 'StartRollout', configurationName: name, version: '1.1.0', steps: STEPS, onHalt: 'Keep' },
    parameters: [{ scopeTypeName: 'Default', version: '1.0.1' }],
    ...more,
  });
  const offered = () =>
    Promise.all(
      nodes.map(async (node) => {
        const [, number] = /n"?: (\d)/.exec((await pullParameters(node)) ?? '') ?? [];
        return `${(await poll(node)).json.version} with ${number}`;
      }),
    );
  const [OLD, NEW] = ['1.0.0 with 0', '1.1.0 with 1'];
  /** How many nodes a preview says to change, once it is made. */
  const changedBy = async (path: string, body: object = {}) => {
    const reply = await hawser.admin.post(path, body);
    expect(reply.status, reply.text).to.be.oneOf([201, 202]);
    return eventually(async () => {
      const made = await ok(200, hawser.admin.get(`${PREVIEWS}/${reply.json.id}`));
      expect(made.state).to.equal('Done');
      return made.counts.changed;
    });
  };

  it('shows it as if it had reached all, starts it in the one step, and takes back what it published', async () => {
    const set = await proposed(hawser.admin, [starting()]);
    const gate = set.deeds[0].steps[0].gate;
    expect(gate).to.include({ minNodes: 1, successShare: 0.95, maxSilent: null, deadline: '1.00:00:00' });
    expect(await changedBy(`${setOf(set)}/preview`)).to.equal(2);
    expect(await offered()).to.deep.equal([OLD, OLD]);

    const apply = { digest: set.digest, expectedChanged: 2 };
    await ok(200, hawser.admin.post(`${setOf(set)}/apply`, apply));
    expect(await offered()).to.deep.equal([NEW, OLD]);
    const rollout = await ok(200, hawser.admin.get(`${rolloutsOf(name)}/1.1.0`));
    expect(rollout).to.include({ state: 'Running', createdBy: 'admin', step: 0 });
    expect(rollout.parameters).to.deep.equal([
      { scopeTypeName: 'Default', scopeValue: null, version: '1.0.1' },
    ]);
    await untilNumbered(hawser);
    const begun = (await allEvents(hawser)).filter(({ type }) => type === 'rollout.started');
    expect(begun.at(-1)?.data).to.include({ name, changeSetId: set.id });
    const story = hawser.git('changes/changes.git', 'log', '-1', '--format=%B', 'main');
    expect(story).to.include(`StartRollout ${name} 1.1.0`).and.include(`StartRollout ${name} Default 1.0.1`);

    const back = await ok(201, hawser.admin.post(`${setOf(set)}/revert`));
    expect(back.deeds.map(({ kind }: { kind: string }) => kind)).to.have.members([
      ...['Withdraw', 'WithdrawParameters'],
    ]);
    await ok(200, hawser.admin.post(`${setOf(back)}/apply`, { digest: back.digest }));
    expect(await offered()).to.deep.equal([OLD, OLD]);
    expect((await ok(200, hawser.admin.get(`${rolloutsOf(name)}/1.1.0`))).state).to.equal('Halted');
  });

  it('may stand in a preview, beside other changes that act together with it', async () => {
    const changes = [
      starting({ version: null, parameters: [{ scopeTypeName: 'Default', version: '1.0.1' }] }),
    ];
    expect(await changedBy(PREVIEWS, { changes })).to.equal(2);
    const both = [publishing(name, '1.1.0'), ...changes];
    expect(await changedBy(PREVIEWS, { changes: both })).to.equal(2);
  });

  it('is a blocker where another rollout has not ended, and is refused where it could never be started', async () => {
    const first = await proposed(hawser.admin, [starting()]);
    const second = await proposed(hawser.admin, [starting({ version: null })]);
    await ok(200, hawser.admin.post(`${setOf(first)}/apply`, { digest: first.digest }));
    const { check, digest } = await ok(200, hawser.admin.get(setOf(second)));
    expect(check.blockers.map(({ code }: { code: string }) => code)).to.deep.equal(['rollout_running']);
    await expectProblem(hawser.admin.post(`${setOf(second)}/apply`, { digest }), 409, 'rollout_running');
    for (const [more, status, code] of [
      [{ version: '9.9.9' }, 409, 'not_found'],
      [{ steps: [step('nowhere')] }, 400, 'validation_failed'],
      [{ version: null, parameters: null }, 400, 'validation_failed'],
      [{ compositeName: 'farm' }, 400, 'validation_failed'],
      [
        { parameters: [1, 2].map(() => ({ scopeTypeName: 'Default', version: '1.0.1' })) },
        400,
        'validation_failed',
      ],
    ] as const)
      await expectProblem(propose(hawser.admin, [starting(more) as never]), ...([status, code] as const));
  });

  it('needs rollouts.manage and Modify to be applied, and Read to be proposed', async () => {
    const grants = (level: 'Read' | 'Modify') =>
      (['configuration', 'parameters'] as const).map((on) => ({ on, name, level }));
    const reader = await makeUser(hawser, {
      ...{ username: `reader-${tests}`, permissions: ['nodes.read', 'rollouts.manage'] },
      grants: grants('Read'),
    });
    const author = await makeUser(hawser, {
      ...{ username: `author-${tests}`, permissions: ['nodes.read'], grants: grants('Modify') },
    });
    for (const person of [reader, author]) {
      const { id, digest } = await proposed(person, [starting()]);
      await expectProblem(person.post(`${SETS}/${id}/apply`, { digest }), 403, 'forbidden');
    }
    expect(await offered()).to.deep.equal([OLD, OLD]);
  });

  /** The rollout of version 1.1.0, and what a person does with it. */
  const move = (deed: string, state?: string, base?: string, of = name) =>
    doDeed(hawser.admin, `${rolloutsOf(of, base)}/1.1.0`, deed, state);
  const protectIt = (of = name) =>
    ok(
      200,
      hawser.admin.put(`${CONFIGURATIONS}/${of}/settings`, { protection: unprotected({ approvals: 1 }) }),
    );
  const refused = (reply: Promise<Reply>) => expectProblem(reply, 409, 'change_set_required');

  it('is asked for to bring more nodes what began without one, and halting it is free', async () => {
    await ok(201, rollOut(hawser.admin, name, '1.1.0', { steps: STEPS }));
    await protectIt();
    await ok(200, move('pause'));
    await refused(move('resume', 'Paused'));
    await refused(move('complete', 'Paused'));
    await ok(200, move('halt', 'Paused'));
    await refused(move('complete', 'Halted'));
    expect((await offered())[1]).to.match(/^1\.0\.0/);
    await ok(200, move('revert', 'Halted'));
  });

  it('that was judged by the protection lets its rollout go on', async () => {
    for (const isJudged of [false, true]) {
      if (isJudged) {
        await publishConfiguration(hawser.admin, `${name}-b`, { '1.0.0': { [MAIN]: DOCUMENT } });
        await ok(201, addVersion(hawser.admin, `${name}-b`, { version: '1.1.0' }));
        nodes = [
          await nodeInRing(hawser, rings.canary, `${name}-b`),
          await nodeInRing(hawser, null, `${name}-b`),
        ];
        await protectIt(`${name}-b`);
      }
      const of = isJudged ? `${name}-b` : name;
      const set = await proposed(hawser.admin, [starting({ configurationName: of, parameters: null })]);
      const apply = { digest: set.digest, ...(isJudged && { override: 'nobody is there' }) };
      await ok(200, hawser.admin.post(`${setOf(set)}/apply`, apply));
      if (!isJudged) await protectIt();
      await ok(200, move('pause', undefined, undefined, of));
      if (!isJudged) await refused(move('resume', 'Paused', undefined, of));
      else {
        await ok(200, move('resume', 'Paused', undefined, of));
        await ok(200, move('complete', undefined, undefined, of));
        expect((await poll(nodes[1] as NodeUnderTest)).json.version).to.equal('1.1.0');
      }
    }
  });

  it('is asked for to assign a composite that halted with a protected child, which those keep that have it', async () => {
    const inner = `inner-${tests}`;
    await publishConfiguration(hawser.admin, inner, { '1.0.0': { [MAIN]: DOCUMENT } });
    await publishWithChildren(hawser.admin, `farm-${tests}`, '1.0.0', [name]);
    await ok(201, addCompositeDraft(hawser.admin, `farm-${tests}`, '1.1.0'));
    await ok(201, addChild(hawser.admin, `farm-${tests}`, '1.1.0', inner));
    const farm = { configurationName: `farm-${tests}`, isComposite: true };
    const node = nodes[0] as NodeUnderTest;
    for (const each of nodes) await ok(204, hawser.admin.put(configurationPath(each), farm));
    await ok(201, rollOut(hawser.admin, `farm-${tests}`, '1.1.0', { steps: STEPS }, COMPOSITES));
    expect((await poll(node)).json.version).to.equal('1.1.0');
    await pullBundle(node);
    await ok(200, move('halt', undefined, COMPOSITES, `farm-${tests}`));
    await ok(204, hawser.admin.delete(configurationPath(node)));
    await protectIt(inner);
    await refused(hawser.admin.put(configurationPath(node), farm));
    const set = await proposed(hawser.admin, [{ kind: 'Assign', nodeIds: [node.nodeId], ...farm }]);
    expect(set.protection[0]).to.include({ approvals: 1, missing: 1 });
  });
});
