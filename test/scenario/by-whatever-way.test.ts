// full: SQLite, PostgreSQL
/**
 * A site that changes at random: what is said of each version, by lists, proofs, dry runs and answers to publishing, is
 * what an independent model says, whichever way the version reaches nodes.
 */

import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { addChild, addCompositeDraft, compositeVersionOf, createComposite } from '../support/composites.ts';
import { addVersion, create, MAIN, versionsOf } from '../support/configurations.ts';
import { parseCsv } from '../support/csv.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { configurationPath, poll } from '../support/parameter-files.ts';
import { manifestPath } from '../support/proof.ts';
import { randomFrom } from '../support/random-site.ts';
import { ok } from '../support/replies.ts';
import { startedForEach } from '../support/started.ts';
import { type Kind, ModelNode, modelOutcome, modelReason, WaysModel } from '../support/ways-model.ts';

const CONFIGURATIONS = ['web', 'db', 'log'];
const COMPOSITES = ['farm', 'rack'];
const ROUNDS = 6;
const STEPS = 10;
const NODES = 9;

describe('by whatever way a version reaches nodes', () => {
  const hawser = startedForEach(startHawser);
  let model: WaysModel;
  let nodes: Map<string, NodeUnderTest>;
  let random: () => number;
  /** The counts that were above nothing in some proof, so that nothing goes untried. */
  const tried = new Set<string>();

  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const pathOf = (kind: Kind, name: string, version: string) =>
    kind === 'composites' ? compositeVersionOf(name, version) : `${versionsOf(name)}/${version}`;
  const everything = () =>
    (['configurations', 'composites'] as const).flatMap((kind) =>
      [...model.versions[kind].keys()].map((name) => ({ kind, name })),
    );
  const filesOf = (name: string, version: string) => ({
    [MAIN]: '$schema: x\nresources: []\n',
    'own.txt': `${name} ${version}\n`,
  });

  async function prepare(seed: number): Promise<void> {
    random = randomFrom(seed);
    model = new WaysModel();
    nodes = new Map();
    for (const name of CONFIGURATIONS) {
      await ok(201, create(hawser.admin, name, { version: '1.0.0' }, { files: filesOf(name, '1.0.0') }));
      await publish('configurations', name, '1.0.0');
    }
    for (const name of COMPOSITES) await ok(201, createComposite(hawser.admin, name));
    for (let at = 0; at < 2; at += 1) await publishComposite();
    for (let at = 0; at < NODES; at += 1) {
      const node = await hawser.registerNode(`n${at}.example.org`);
      nodes.set(node.nodeId, node);
      model.nodes.push(new ModelNode(node));
    }
  }

  const nextOf = (kind: Kind, name: string) => {
    const [highest = '0.9.0'] = model.list(kind, name);
    const [major = 0, minor = 0] = highest.split('.').map(Number);
    return below(4) === 0 ? `${major + 1}.0.0` : `${major}.${minor + 1}.0`;
  };

  /** What is published tells at once how many nodes are offered it. */
  async function publish(
    kind: Kind,
    name: string,
    version: string,
    children: { name: string; pin: string | null }[] = [],
  ): Promise<void> {
    const { nodes: told } = await ok(200, hawser.admin.put(`${pathOf(kind, name, version)}/publish`));
    model.publish(kind, name, version, children);
    expect(told, `published ${name} ${version}`).to.deep.equal(waysOf(kind, name, version));
  }

  async function publishConfiguration(): Promise<void> {
    const name = pick(CONFIGURATIONS);
    const version = nextOf('configurations', name);
    await ok(201, addVersion(hawser.admin, name, { version }, { files: filesOf(name, version) }));
    await publish('configurations', name, version);
  }

  async function publishComposite(): Promise<void> {
    const name = pick(COMPOSITES);
    const version = nextOf('composites', name);
    await ok(201, addCompositeDraft(hawser.admin, name, version));
    const children: { name: string; pin: string | null }[] = [];
    for (const child of CONFIGURATIONS) {
      if (children.length > 0 && below(2) === 0) continue;
      const isFree = (each: string) => !model.isWithdrawn('configurations', child, each);
      const free = model.list('configurations', child).filter(isFree);
      const pin = below(3) === 0 && free.length > 0 ? pick(free) : null;
      const more = pin === null ? {} : { activeVersion: pin };
      await ok(201, addChild(hawser.admin, name, version, child, more));
      children.push({ name: child, pin });
    }
    if (children.some((child) => child.pin === null && !isOffered(child.name))) {
      await ok(204, hawser.admin.delete(pathOf('composites', name, version)));
      return;
    }
    await publish('composites', name, version, children);
  }

  const isOffered = (name: string) =>
    model.list('configurations', name).some((each) => !model.isWithdrawn('configurations', name, each));

  async function withdrawOrOffer(): Promise<void> {
    const { kind, name } = pick(everything());
    const version = pick(model.list(kind, name));
    const path = `${pathOf(kind, name, version)}/withdraw`;
    const isWithdrawn = model.isWithdrawn(kind, name, version);
    if (isWithdrawn) await ok(204, hawser.admin.delete(path));
    else await ok(200, hawser.admin.put(path, { reason: 'at random' }));
    model.setWithdrawn(kind, name, version, !isWithdrawn);
  }

  /** What gives nothing cannot be assigned. */
  async function assign(): Promise<void> {
    const node = pick(model.nodes);
    const { kind, name } = pick(everything());
    const how = below(3);
    const pin = how === 0 ? pick(model.list(kind, name)) : null;
    const major = how === 1 ? 1 + below(2) : null;
    const body = { configurationName: name, isComposite: kind === 'composites' };
    const reply = await hawser.admin.put(configurationPath(node), {
      ...body,
      ...(pin === null ? {} : { version: pin }),
      ...(major === null ? {} : { majorVersion: major }),
    });
    if (reply.status === 204) node.assigned = { kind, name, major, pin };
    else expect(reply.json.code).to.equal('no_eligible_version');
  }

  async function unassign(): Promise<void> {
    const node = pick(model.nodes);
    if (node.assigned === null) return;
    await ok(204, hawser.admin.delete(configurationPath(node)));
    node.assigned = null;
  }

  const clientOf = (node: ModelNode) => nodes.get(node.nodeId) as NodeUnderTest;

  function heard(node: ModelNode, { status, json }: Reply): boolean {
    if (status !== 200) return false;
    node.answered = json.checksum;
    node.note(json.checksum, 'Told');
    return true;
  }

  /** A poll that says what runs, or nothing of it. */
  async function pollBy(node: ModelNode, held = pick([node.running?.checksum, undefined])): Promise<void> {
    const reply = await poll(clientOf(node), held);
    if (reply.status !== 304 || held === undefined) return void heard(node, reply);
    node.answered = held;
    node.note(held, 'Declared');
  }

  async function pull(node: ModelNode): Promise<void> {
    const told = await poll(clientOf(node));
    if (!heard(node, told)) return;
    const { status } = await clientOf(node).client.get(`${configurationPath(node)}/bundle`);
    expect(status).to.equal(200);
    node.note(told.json.checksum, 'Served');
  }

  /** A report of what runs, or of something that ran before. */
  async function report(node: ModelNode): Promise<void> {
    const known = [...node.outcomes.keys()];
    const configurationChecksum = below(4) === 0 && known.length > 0 ? pick(known) : node.running?.checksum;
    if (configurationChecksum === undefined) return;
    const hadErrors = below(3) === 0;
    const result = testOutput([testedService(true)], hadErrors);
    const body = { operation: 'Test', result, configurationChecksum };
    await ok(201, clientOf(node).client.post(`/api/v1/nodes/${node.nodeId}/reports`, body));
    node.reported(configurationChecksum, hadErrors);
  }

  /** What most agents do: they pull, and say by a report or by their next poll that they have it. */
  async function take(node: ModelNode): Promise<void> {
    await pull(node);
    if (below(3) === 0) await pollBy(node, node.running?.checksum);
    else await report(node);
  }

  async function tellLcm(node: ModelNode): Promise<void> {
    const lcmStatus = pick(['Error', 'Idle']);
    await ok(204, clientOf(node).client.put(`/api/v1/nodes/${node.nodeId}/lcm-status`, { lcmStatus }));
    node.toldLcm(lcmStatus);
  }

  const step = () =>
    pick([
      () => publishConfiguration(),
      () => publishComposite(),
      () => withdrawOrOffer(),
      () => assign(),
      () => assign(),
      () => unassign(),
      () => pollBy(pick(model.nodes)),
      () => pull(pick(model.nodes)),
      () => take(pick(model.nodes)),
      () => take(pick(model.nodes)),
      () => report(pick(model.nodes)),
      () => report(pick(model.nodes)),
      () => tellLcm(pick(model.nodes)),
    ])();

  /** The nodes that the version reaches, and for others that it is of. */
  const reached = (kind: Kind, name: string) =>
    model.nodes.flatMap((node) => {
      const way = model.wayTo(node, kind, name);
      return way === null ? [] : [{ node, ...way }];
    });

  function waysOf(kind: Kind, name: string, version: string) {
    const offered = reached(kind, name).filter((each) => each.version === version);
    const following = offered.filter(({ isPinned }) => !isPinned);
    const direct = following.filter(({ via }) => via === 'Direct').length;
    return {
      offered: offered.length,
      direct,
      viaComposites: following.length - direct,
      pinned: offered.length - following.length,
    };
  }

  const countOf = <T>(all: readonly T[], is: (each: T) => boolean) => all.filter(is).length;

  /** What each node would be told now. A user who asks for it is no node that polls. */
  async function offeredNow(): Promise<Map<string, string | null>> {
    const offered = new Map<string, string | null>();
    for (const { nodeId } of model.nodes) {
      const { json } = await hawser.admin.get(`${configurationPath({ nodeId })}/checksum`);
      offered.set(nodeId, json.checksum ?? null);
    }
    return offered;
  }

  /** The version of a name in what each node runs, by the manifest of its checksum. */
  async function runningVersions(kind: Kind, name: string): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const { nodeId, running } of model.nodes) {
      if (running === null) continue;
      const { configurationName, isComposite, version, parts } = await ok(
        200,
        hawser.admin.get(manifestPath(running.checksum)),
      );
      const part = parts.find((each: { configurationName: string }) => each.configurationName === name);
      if (kind === 'configurations' && part !== undefined) found.set(nodeId, part.version);
      if (kind === 'composites' && isComposite && configurationName === name) found.set(nodeId, version);
    }
    return found;
  }

  async function expectVersions(kind: Kind, name: string): Promise<void> {
    const runs = await runningVersions(kind, name);
    const query = kind === 'composites' ? '?isComposite=true' : '';
    const rows = await ok(200, hawser.admin.get(`/api/v1/fleet/configurations/${name}/versions${query}`));
    const all = reached(kind, name);
    const expected = model.list(kind, name).map((version) => {
      const by = (evidence: string) =>
        countOf(all, ({ node }) => runs.get(node.nodeId) === version && node.running?.evidence === evidence);
      const evidence = { declared: by('Declared'), served: by('Served'), told: by('Told') };
      return { version, ...waysOf(kind, name, version), ...evidence };
    });
    expect(rows, `versions of ${name}`).to.deep.equal(expected);
  }

  async function expectProof(kind: Kind, name: string, version: string): Promise<void> {
    const path = `${pathOf(kind, name, version)}/proof`;
    const now = await offeredNow();
    const rows = reached(kind, name)
      .filter((each) => each.version === version || each.version === null)
      .map(({ node, via, isPinned, version: gets }) => {
        const offered = gets === null ? null : (now.get(node.nodeId) ?? null);
        const { checksum = null, evidence = null } = node.running ?? {};
        return {
          ...{ nodeId: node.nodeId, fqdn: node.fqdn, via, isPinned, evidence, checksum },
          ...{ reason: modelReason(node, offered), outcome: modelOutcome(node, offered) },
          isCurrent: checksum !== null && checksum === offered,
        };
      });
    const resolved = rows.filter(({ reason }) => reason !== 'Unresolvable');
    const by = (evidence: string) =>
      countOf(resolved, (each) => each.isCurrent && each.evidence === evidence);
    const outcome = (word: string) => countOf(rows, (each) => each.outcome === word);
    const { nodes: counts, reasons } = await ok(200, hawser.admin.get(path));
    for (const [member, count] of Object.entries(counts)) if (count !== 0) tried.add(member);
    expect(counts, `proof of ${name} ${version}`).to.deep.equal({
      ...waysOf(kind, name, version),
      ...{ declared: by('Declared'), served: by('Served'), told: by('Told') },
      others: countOf(resolved, ({ isCurrent }) => !isCurrent),
      ...{ failed: outcome('Failed'), applied: outcome('Applied'), untested: outcome('Untested') },
    });
    const named = new Set(rows.flatMap(({ reason }) => reason ?? []));
    const told = reasons.map((each: { reason: string; nodes: number }) => [each.reason, each.nodes]);
    expect(new Map(told), `reasons of ${name} ${version}`).to.deep.equal(
      new Map([...named].map((reason) => [reason, countOf(rows, (each) => each.reason === reason)])),
    );
    const listed = await ok(200, hawser.admin.get(`${path}/nodes`));
    expect(
      listed.map(({ since: _since, ...row }: { since: string }) => row),
      `nodes of ${name} ${version}`,
    ).to.deep.equal(rows.map(({ isCurrent: _isCurrent, ...row }) => row));
    const [header, ...cells] = parseCsv(
      (await hawser.admin.with({ Accept: 'text/csv' }).get(`${path}/nodes`)).text,
    );
    const column = (label: string) => cells.map((row) => row[header?.indexOf(label) ?? -1]);
    expect(column('via')).to.deep.equal(rows.map(({ via }) => via));
    expect(column('isPinned')).to.deep.equal(rows.map(({ isPinned }) => String(isPinned)));
    expect(column('outcome')).to.deep.equal(rows.map((each) => each.outcome ?? ''));
  }

  async function expectDryRun(kind: Kind, name: string, version: string): Promise<void> {
    const before = reached(kind, name).filter((each) => each.version === version);
    const following = before.filter(({ isPinned }) => !isPinned);
    const pinned = before.filter(({ isPinned }) => isPinned);
    const wasWithdrawn = model.isWithdrawn(kind, name, version);
    model.setWithdrawn(kind, name, version, true);
    const next = following.map(({ node }) => model.wayTo(node, kind, name)?.version ?? null);
    model.setWithdrawn(kind, name, version, wasWithdrawn);
    const order = [...model.list(kind, name), null].filter((each) => next.includes(each));
    const { pinnedBy: _pins, ...effect } = await ok(
      200,
      hawser.admin.put(`${pathOf(kind, name, version)}/withdraw?dryRun=true`),
    );
    const { direct, viaComposites } = waysOf(kind, name, version);
    expect(effect, `dry run of ${name} ${version}`).to.deep.equal({
      ...{ nodes: following.length, direct, viaComposites, pinned: pinned.length },
      pinnedNodes: pinned.map(({ node: { nodeId, fqdn } }) => ({ nodeId, fqdn })),
      wouldGet: order.map((each) => ({ version: each, nodes: countOf(next, (gets) => gets === each) })),
    });
  }

  async function expectAll(): Promise<void> {
    for (const { kind, name } of everything()) {
      // What polls and downloads tell is written two seconds late at most.
      await eventually(() => expectVersions(kind, name));
      for (const version of model.list(kind, name)) {
        await eventually(() => expectProof(kind, name, version));
        await expectDryRun(kind, name, version);
      }
    }
  }

  for (const seed of [4711, 7, 2026])
    it(`all counts and lists say the same as a model, with seed ${seed}`, async () => {
      await prepare(seed);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (let at = 0; at < STEPS; at += 1) await step();
        await expectAll();
      }
    });

  it('and each way, evidence and outcome came up', () => {
    expect([...tried]).to.have.members([
      ...['offered', 'direct', 'viaComposites', 'pinned', 'declared', 'served', 'told', 'others'],
      ...['failed', 'applied', 'untested'],
    ]);
  });
});
