// full: SQLite, PostgreSQL

import { expect } from 'chai';
import { Fleet } from '../../src/resolve/fleet.ts';
import type { FleetOffers } from '../../src/resolve/fleet-offers.ts';
import { HeldKeys } from '../../src/resolve/held-keys.ts';
import { ParameterReader } from '../../src/resolve/parameters.ts';
import type { PreviewInput } from '../../src/resolve/preview-types.ts';
import { readOffers } from '../../src/resolve/read-offers.ts';
import { openFleetThreads } from '../../src/threads/open.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN, release } from '../support/configurations.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { NO_KEYS } from '../support/keys.ts';
import { assign, configurationPath, poll, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };

describe('what a thread knows of the fleet', () => {
  let hawser: Hawser;
  let fleet: Fleet;
  let nodes: NodeUnderTest[];

  before(async () => {
    hawser = await startHawser();
    const type = await createScopeType(hawser, 'Region');
    const values = [];
    for (const value of ['north', 'south']) values.push(await createScopeValue(hawser, type, value));
    nodes = [];
    // Not in the order of their names.
    for (const name of ['web-3', 'web-1', 'web-2', 'web-5', 'web-4', 'web-6'])
      nodes.push(await hawser.registerNode(`${name}.example.org`));
    for (const [at, node] of nodes.entries())
      if (at % 3 > 0) await tagNode(hawser, node.nodeId, values[(at % 3) - 1] ?? '');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': FILES, '1.1.0': FILES, '2.0.0': FILES });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': FILES });
    await publishWithChildren(hawser.admin, 'stack', '1.0.0', ['web', 'db']);
    fleet = new Fleet({ ...hawser, cacheBytes: 2 ** 24 }, new HeldKeys());
  });

  after(async () => {
    await fleet.close();
    await hawser.close();
  });

  const read = () => fleet.atOneMoment((moment) => readOffers(fleet, moment));

  /** By the fqdn: the checksum that a node gets, or the code of the error that its poll is answered with. */
  async function offered(offers: FleetOffers): Promise<Record<string, string | null>> {
    const answers: Record<string, string | null> = {};
    for (const [at, fqdn] of offers.snapshot.nodes.fqdns.entries()) {
      const outcome = await offers.outcomeOf(at);
      if (outcome === null) answers[fqdn] = null;
      else if ('error' in outcome) answers[fqdn] = outcome.error.code;
      else answers[fqdn] = outcome.delivery.manifest.checksum;
    }
    return answers;
  }

  async function polled(): Promise<Record<string, string | null>> {
    const answers: Record<string, string | null> = {};
    for (const node of [...nodes].sort((a, b) => (a.fqdn < b.fqdn ? -1 : 1))) {
      const { json } = await poll(node);
      const code = json.code === 'no_configuration_assigned' ? null : json.code;
      answers[node.fqdn] = json.checksum ?? code;
    }
    return answers;
  }

  async function expectSame(): Promise<FleetOffers> {
    const offers = await read();
    expect(await offered(offers)).to.deep.equal(await polled());
    return offers;
  }

  it('is what each node gets, by name: nothing at first', async () => {
    const offers = await expectSame();
    expect(offers.snapshot.nodes.fqdns).to.deep.equal(nodes.map(({ fqdn }) => fqdn).sort());
  });

  it('follows assignments, versions, tags and files of every scope', async () => {
    const [first, second, third, fourth, fifth] = nodes as [NodeUnderTest, ...NodeUnderTest[]] &
      NodeUnderTest[];
    await assign(hawser, first, 'web');
    await assign(hawser, second as NodeUnderTest, 'web', { majorVersion: 1 });
    await assign(hawser, third as NodeUnderTest, 'web', { version: '1.0.0' });
    await assign(hawser, fourth as NodeUnderTest, 'stack', { isComposite: true });
    await assign(hawser, fifth as NodeUnderTest, 'stack', { isComposite: true });
    await expectSame();
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 1}' });
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Region', value: 'north' },
      content: 'parameters: {port: 2}',
    });
    await saveParameters(hawser, { configuration: 'db', version: '1.2.0', content: 'parameters: {a: 1}' });
    await expectSame();
    const own = { configuration: 'web', scopeType: 'Node', value: first.fqdn };
    await saveParameters(hawser, { ...own, version: '2.0.0', content: 'parameters: {port: 3}' });
    const offers = await expectSame();
    const outcome = await offers.outcomeOf(offers.snapshot.placeOf(first.nodeId));
    const scopes = outcome && 'delivery' in outcome ? outcome.delivery.parts[0]?.scopes : [];
    expect(
      scopes?.map(({ scopeTypeName, scopeValue, file }) => [scopeTypeName, scopeValue, file.version]),
    ).to.deep.equal([
      ['Default', null, '1.0.0'],
      ['Node', first.fqdn, '2.0.0'],
    ]);
    await release(hawser.admin, 'web', '1.2.0', { files: FILES });
    await ok(204, hawser.admin.delete(configurationPath(fifth as NodeUnderTest)));
    await expectSame();
  });

  it('gives the code of the poll where a node gets an error', async () => {
    const [first, second] = nodes as [NodeUnderTest, NodeUnderTest];
    await publishConfiguration(hawser.admin, 'early', { '1.0.0-beta.1': FILES });
    await ok(
      204,
      hawser.admin.put(configurationPath(first), { configurationName: 'early', prereleaseChannel: 'beta' }),
    );
    await expectSame();
    await ok(
      200,
      hawser.admin.put('/api/v1/configurations/early/versions/1.0.0-beta.1/withdraw', {
        reason: 'It is broken',
      }),
    );
    const leaves = Array.from({ length: 11_000 }, (_, at) => `k${at}: 1`);
    for (const [scopeType, value] of [
      ['Default', undefined],
      ['Node', second.fqdn],
    ] as const)
      await saveParameters(hawser, {
        ...{ configuration: 'web', scopeType, version: '1.3.0' },
        ...(value === undefined ? {} : { value }),
        content: `parameters: {${scopeType}: {${leaves.join(', ')}}}`,
      });
    const answers = await offered(await expectSame());
    expect(answers).to.include({
      [first.fqdn]: 'no_eligible_version',
      [second.fqdn]: 'parameter_merge_failed',
    });
  });

  it('has comparable keys before and after changes of nodes, and names all that is assigned', async () => {
    const [first, , third] = nodes as [NodeUnderTest, NodeUnderTest, NodeUnderTest];
    const { before, after } = await fleet.atOneMoment(async (moment) => {
      const readers = {
        parameters: new ParameterReader(moment.source, fleet),
        keys: new Map(),
      };
      const [configurationId] =
        [...moment.snapshot.registry.configurations].find(([, { name }]) => name === 'web') ?? [];
      const [valueId] =
        [...moment.snapshot.registry.values].find(([, { scopeValue }]) => scopeValue === 'north') ?? [];
      const typeId = moment.snapshot.registry.values.get(valueId ?? '')?.scopeTypeId ?? '';
      const web = { configurationId: configurationId ?? '', compositeId: null, majorVersion: null };
      const snapshot = moment.snapshot.with({
        assignments: new Map([[first.nodeId, { ...web, prereleaseChannel: null, version: null }]]),
        tags: new Map([[third.nodeId, new Map([[typeId, valueId ?? '']])]]),
      });
      return {
        before: await readOffers(fleet, moment, readers),
        after: await readOffers(fleet, { ...moment, snapshot }, readers),
      };
    });
    const changed = nodes.filter(({ nodeId }) => {
      const at = before.snapshot.placeOf(nodeId);
      return before.keyOf(at) !== after.keyOf(at);
    });
    expect(changed.map(({ fqdn }) => fqdn)).to.deep.equal([first.fqdn, third.fqdn]);
    expect(before.namesOf(before.snapshot.placeOf(first.nodeId))).to.deep.equal({
      composite: null,
      configurations: ['early'],
    });
    const composite = nodes[3] as NodeUnderTest;
    expect(before.namesOf(before.snapshot.placeOf(composite.nodeId))).to.deep.equal({
      composite: 'stack',
      configurations: ['web', 'db'],
    });
  });

  it('is read by threads beside the server too', async () => {
    const threads = openFleetThreads(hawser, NO_KEYS);
    const input: PreviewInput = {
      proposal: { published: [], files: [], assignments: new Map(), tags: new Map() },
      readable: { configuration: 'all', composite: 'all', parameters: 'all', scopes: 'all' },
      nodeIds: null,
    };
    const { counts } = await threads.previews.run('a', 'makePreview', input);
    expect(counts).to.include({ nodes: nodes.length, unchanged: nodes.length });
    await Promise.all([threads.questions.close(), threads.previews.close()]);
  });

  it('is read anew when a repository moves meanwhile', async () => {
    let attempts = 0;
    const offers = await fleet.atOneMoment(async (moment) => {
      attempts += 1;
      const made = await readOffers(fleet, moment);
      if (attempts === 1) {
        await release(hawser.admin, 'web', '3.0.0', { files: FILES });
      }
      return made;
    });
    expect(attempts).to.equal(2);
    expect(await offered(offers)).to.deep.equal(await polled());
  });
});
