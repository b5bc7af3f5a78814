// full: SQLite

import { expect } from 'chai';
import type { RolloutRecord, RolloutStep } from '../../src/domain/rollout.ts';
import { printRollout, ROLLOUT_FILE } from '../../src/domain/rollout-document.ts';
import { Fleet } from '../../src/resolve/fleet.ts';
import { HeldKeys } from '../../src/resolve/held-keys.ts';
import { readOffers } from '../../src/resolve/read-offers.ts';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { assign, configurationPath, poll, saveParameters } from '../support/parameter-files.ts';
import { reported } from '../support/proof.ts';
import { ok } from '../support/replies.ts';
import { begun } from '../support/rollout-record.ts';
import { download } from '../support/running.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { versionOf, withdraw } from '../support/withdrawals.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

describeOnSqlite('nodes poll while a version rolls out', () => {
  let hawser: Hawser;
  let fleet: Fleet;
  let type: string;
  let values: { canary: string; early: string };
  /** One node of each ring, for each test. */
  let nodes: { canary: NodeUnderTest; early: NodeUnderTest; rest: NodeUnderTest };
  let name: string;
  let tests = 0;

  before(async () => {
    hawser = await startHawser();
    fleet = new Fleet({ ...hawser, cacheBytes: 2 ** 24 }, new HeldKeys());
    type = await createScopeType(hawser, 'Ring');
    values = {
      canary: await createScopeValue(hawser, type, 'canary'),
      early: await createScopeValue(hawser, type, 'early'),
    };
  });
  after(async () => {
    await fleet.close();
    await hawser.close();
  });

  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': FILES });
    nodes = { canary: await join('canary'), early: await join('early'), rest: await join(null) };
  });

  async function join(ring: 'canary' | 'early' | null, configuration = name): Promise<NodeUnderTest> {
    const node = await hawser.registerNode(`n${Math.random()}.example.org`);
    if (ring !== null) await tagNode(hawser, node.nodeId, values[ring]);
    await assign(hawser, node, configuration);
    return node;
  }

  /** Writes the record as the branch of a published version says it, or of one that is published with it. */
  async function rollOut(version: string, more: Partial<RolloutRecord> = {}): Promise<void> {
    const outside = new Outside(hawser, name);
    const steps = ['canary', 'early', null].map((ring) => ({ ...begun().steps[0], ring }) as RolloutStep);
    const record = {
      ...begun({ version, steps, tag: outside.git('rev-parse', `refs/tags/v${version}`) }),
      scopeType: { id: type, name: 'Ring' },
      ...more,
    };
    const commit = outside.commit([outside.file(ROLLOUT_FILE, printRollout(record))]);
    outside.git('update-ref', `refs/heads/rollout/${version}`, commit);
  }

  /** The first steps up to this one are open. */
  const openTo = (last: number) => {
    const steps = begun({
      steps: ['canary', 'early', null].map((ring) => ({
        ...{ ring, percent: 100 },
        gate: begun().steps[0]?.gate as RolloutStep['gate'],
      })),
    }).steps.map((each, at): RolloutStep => {
      const at0 = '2026-03-01T10:00:00.000Z';
      if (at > last) return { ...each, state: 'Waiting', startedAt: null };
      return at < last
        ? { ...each, state: 'Done', startedAt: at0, endedAt: at0 }
        : { ...each, state: 'Open', startedAt: at0 };
    });
    return { step: last, steps };
  };

  async function publishInto(version: string, more: Partial<RolloutRecord> = {}): Promise<void> {
    await ok(
      201,
      addVersion(
        hawser.admin,
        name,
        { version },
        { files: { [MAIN]: `$schema: x\nresources: []\n# ${version}\n` } },
      ),
    );
    await ok(200, publish(hawser.admin, name, version));
    await rollOut(version, more);
  }

  const got = async (node: NodeUnderTest): Promise<string> => {
    const { json } = await poll(node);
    return json.version ?? json.code;
  };

  /** What the nodes of each ring get; all that tells it must agree. */
  async function expectRings(canary: string, early: string, rest: string): Promise<void> {
    await eventually(async () =>
      expect([await got(nodes.canary), await got(nodes.early), await got(nodes.rest)]).to.deep.equal([
        ...[canary, early, rest],
      ]),
    );
    await expectAgreement(Object.values(nodes));
  }

  async function expectAgreement(polling: readonly NodeUnderTest[]): Promise<void> {
    const offers = await fleet.atOneMoment((moment) => readOffers(fleet, moment));
    for (const node of polling) {
      const { version, checksum } = await ok(200, poll(node));
      const outcome = await offers.outcomeOf(offers.snapshot.placeOf(node.nodeId));
      const delivery = outcome && 'delivery' in outcome ? outcome.delivery : null;
      expect(delivery?.manifest.checksum, 'offered to the fleet').to.equal(checksum);
      const details = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`));
      expect([details.offeredVersion, details.assignment.resolvedVersion]).to.deep.equal([version, version]);
      const [listed] = await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=${node.fqdn}&version=${version}`));
      expect(listed).to.include({ id: node.nodeId, offeredVersion: version });
      expect(await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=${node.fqdn}&version=9.0.0`))).to.deep.equal(
        [],
      );
    }
  }

  it('ring by ring, and by their tags at the next poll', async () => {
    await publishInto('1.4.0');
    await expectRings('1.4.0', '1.0.0', '1.0.0');
    await rollOut('1.4.0', openTo(1));
    await expectRings('1.4.0', '1.4.0', '1.0.0');
    const later = [await join('early'), await join(null)];
    expect([await got(later[0] as NodeUnderTest), await got(later[1] as NodeUnderTest)]).to.deep.equal([
      '1.4.0',
      '1.0.0',
    ]);
    await tagNode(hawser, nodes.rest.nodeId, values.canary);
    await expectRings('1.4.0', '1.4.0', '1.4.0');
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodes.rest.nodeId}/tags/${values.canary}`));
    await expectRings('1.4.0', '1.4.0', '1.0.0');
    const { steps } = openTo(2);
    const done = steps.map((each) => ({ ...each, state: 'Done' as const, endedAt: each.startedAt }));
    await rollOut('1.4.0', { state: 'Completed', step: 2, steps: done });
    await expectRings('1.4.0', '1.4.0', '1.4.0');
  });

  it('and whoever is pinned to it gets it, as does a composite whose child is', async () => {
    await publishInto('1.4.0');
    await expectRings('1.4.0', '1.0.0', '1.0.0');
    await assign(hawser, nodes.rest, name, { version: '1.4.0' });
    await expectRings('1.4.0', '1.0.0', '1.4.0');
    const [follows, pinned] = [`follows-${tests}`, `pinned-${tests}`];
    await publishWithChildren(hawser.admin, follows, '1.0.0', [name]);
    await publishWithChildren(hawser.admin, pinned, '1.0.0', [{ name, activeVersion: '1.4.0' }]);
    const childOf = async (node: NodeUnderTest, composite: string) => {
      await assign(hawser, node, composite, { isComposite: true });
      const { checksum } = await ok(200, poll(node));
      await expectAgreement([node]);
      const text = (await download(node)).bytes.includes(Buffer.from('# 1.4.0'));
      return { checksum, text };
    };
    const [inRing, outside] = [await childOf(nodes.canary, follows), await childOf(nodes.early, follows)];
    expect(inRing.checksum).not.to.equal(outside.checksum);
    const both = [await childOf(nodes.canary, pinned), await childOf(nodes.early, pinned)];
    expect(both[0]?.checksum).to.equal(both[1]?.checksum);
  });

  it('and holders keep it after a halt, until they are offered a higher one', async () => {
    await publishInto('1.4.0', openTo(1));
    await expectRings('1.4.0', '1.4.0', '1.0.0');
    await download(nodes.canary);
    // What it told is noted and perhaps not written yet. The other node was told of the version and has not taken it.
    await rollOut('1.4.0', { ...openTo(1), state: 'Halted' });
    await expectRings('1.4.0', '1.0.0', '1.0.0');
    const joined = await join('canary');
    expect(await got(joined)).to.equal('1.0.0');
    // A report keeps the manifest, while the node is told of other parameters of the version, which it has not fetched.
    const { checksum } = await ok(200, poll(nodes.canary));
    await reported(nodes.canary, checksum);
    await saveParameters(hawser, { configuration: name, content: 'parameters: {port: 1}' });
    await expectRings('1.4.0', '1.0.0', '1.0.0');
    const effect = await ok(200, withdrawDry('1.4.0'));
    expect(effect).to.deep.include({ nodes: 1, wouldGet: [{ version: '1.0.0', nodes: 1 }] });

    await publishInto('1.5.0');
    await expectRings('1.5.0', '1.0.0', '1.0.0');
    await rollOut('1.4.0', { ...openTo(1), state: 'Halted', isReverted: true });
    await rollOut('1.5.0', { ...openTo(0), state: 'Halted', isReverted: true });
    await expectRings('1.0.0', '1.0.0', '1.0.0');
  });

  const withdrawDry = (version: string) =>
    hawser.admin.put(`${versionOf(name, version)}/withdraw?dryRun=true`, {});

  it('and a dry run of a withdrawal tells of those whose ring has it', async () => {
    await publishInto('1.4.0');
    await expectRings('1.4.0', '1.0.0', '1.0.0');
    expect(await ok(200, withdrawDry('1.4.0'))).to.deep.include({
      nodes: 1,
      wouldGet: [{ version: '1.0.0', nodes: 1 }],
    });
    expect(await ok(200, withdrawDry('1.0.0'))).to.deep.include({ nodes: 2 });
    await ok(200, withdraw(hawser.admin, name, '1.4.0'));
    await expectRings('1.0.0', '1.0.0', '1.0.0');
  });

  it('and nodes outside its rings get nothing where there is no other version', async () => {
    const first = `first-${tests}`;
    await publishConfiguration(hawser.admin, first, { '1.4.0': FILES });
    const [before, after] = [await join('canary', first), await join(null, first)];
    name = first;
    await rollOut('1.4.0');
    await eventually(async () =>
      expect([await got(before), await got(after)]).to.deep.equal(['1.4.0', 'no_eligible_version']),
    );
    const later = await join('early', first);
    expect(await got(later)).to.equal('no_eligible_version');
    const shown = await ok(200, hawser.admin.get(`/api/v1/nodes/${later.nodeId}`));
    expect(shown).to.include({ offeredVersion: null, parameterProblems: 0 });
    await ok(204, hawser.admin.delete(configurationPath(later)));
  });
});
