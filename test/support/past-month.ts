/** A month of deeds on a fleet, and a record of our own of what each node ran when, which the server's answers must agree with. */

import { expect } from 'chai';
import { DAY, MINUTE, SECOND } from '../../src/lib/clock.ts';
import type { Client } from './client.ts';
import { publishWithChildren } from './composites.ts';
import { MAIN } from './configurations.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration } from './hawser.ts';
import { assign } from './parameter-files.ts';
import { randomFrom } from './random-site.ts';
import { ok } from './replies.ts';
import { declare, download, offeredTo, sendReport } from './running.ts';

const EVIDENCE = ['Told', 'Served', 'Declared'] as const;
type Evidence = (typeof EVIDENCE)[number];

interface Stretch {
  checksum: string;
  steps: Step[];
}

/** The node's call lay between the two times. */
interface Step {
  at: number;
  end: number;
  evidence: Evidence;
}

interface Recorded {
  checksum: string;
  step: Step;
}

/** What was seen of each node. A stretch that is null is that of a node that was deleted. */
class PastRecord {
  private readonly stretches = new Map<string, { at: number; stretch: Stretch | null }[]>();

  note(nodeId: string, checksum: string, step: Step): void {
    const { at, evidence } = step;
    const own = this.stretches.get(nodeId) ?? [];
    this.stretches.set(nodeId, own);
    const last = own.at(-1)?.stretch;
    if (last?.checksum !== checksum) own.push({ at, stretch: { checksum, steps: [step] } });
    else if (EVIDENCE.indexOf(evidence) > EVIDENCE.indexOf(last.steps.at(-1)?.evidence ?? 'Told'))
      last.steps.push(step);
  }

  end(nodeId: string, at: number): void {
    this.stretches.get(nodeId)?.push({ at, stretch: null });
  }

  at(nodeId: string, when: number): Recorded | null {
    const found = this.stretches.get(nodeId)?.findLast(({ at }) => at <= when)?.stretch;
    if (!found) return null;
    const step = found.steps.findLast(({ at }) => at <= when) ?? expect.fail();
    return { checksum: found.checksum, step };
  }
}

interface Month {
  nodes: number;
  days: number;
  deedsPerDay: number;
}

export class PastMonth {
  private readonly hawser: Hawser;
  private readonly record = new PastRecord();
  private readonly nodes: NodeUnderTest[] = [];
  private readonly deleted = new Set<NodeUnderTest>();
  private readonly moments: number[] = [];
  private readonly versions = { web: 1, db: 1 };
  private readonly random: () => number;

  constructor(hawser: Hawser, seed: number) {
    this.hawser = hawser;
    this.random = randomFrom(seed);
  }

  /** What nodes do lies a second and more apart, and the moments lie between. */
  async play({ nodes, days, deedsPerDay }: Month): Promise<void> {
    const { hawser } = this;
    for (const name of ['web', 'db'] as const)
      await publishConfiguration(hawser.admin, name, { '1.1.0': filesOf(`${name} 1`) });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', [{ name: 'web', order: 1 }]);
    for (let at = 0; at < nodes; at += 1) {
      const node = await hawser.registerNode(`node-${at}.example.org`);
      await this.assign(node);
      this.nodes.push(node);
    }
    for (let day = 0; day < days; day += 1) {
      if (day % 3 === 2) await this.publish(this.dice(2) === 0 ? 'web' : 'db');
      for (let deed = 0; deed < deedsPerDay; deed += 1) await this.doAnything();
      this.pass(DAY - deedsPerDay * MINUTE);
    }
  }

  /** @returns how many answers were compared */
  async compare(client: Client, every: number): Promise<number> {
    let compared = 0;
    for (const when of this.moments.filter((_, at) => at % every === 0)) {
      const at = new Date(when).toISOString();
      const rows = await ok(200, client.get(`/api/v1/fleet/running?at=${at}&take=1000`));
      const told = new Map<string, Record<string, unknown>>(
        rows.map((row: { nodeId: string }) => [row.nodeId, row]),
      );
      const wanted = this.nodes.filter(({ nodeId }) => this.record.at(nodeId, when) !== null);
      expect([...told.keys()].sort(), at).to.deep.equal(wanted.map(({ nodeId }) => nodeId).sort());
      for (const { nodeId, fqdn } of wanted) {
        const recorded = this.record.at(nodeId, when) as Recorded;
        expectRecorded(told.get(nodeId) ?? {}, recorded, `${fqdn} at ${at}`);
        compared += 1;
      }
      await this.compareOne(client, when);
    }
    return compared;
  }

  private async compareOne(client: Client, when: number): Promise<void> {
    const node = this.anyNode();
    const { nodeId } = node;
    const path = `/api/v1/nodes/${nodeId}/manifest?at=${new Date(when).toISOString()}`;
    const wanted = this.record.at(nodeId, when);
    const { status, json } = await client.get(path);
    // Of a node that was deleted before it ran anything nothing is known.
    if (wanted === null)
      expect(`${status} ${json.code}`).to.match(
        this.deleted.has(node) ? /^404 (nothing_ran|not_found)$/ : /^404 nothing_ran$/,
      );
    else expectRecorded(json, wanted, path);
  }

  private async doAnything(): Promise<void> {
    const node = this.anyNode();
    if (!this.deleted.has(node)) {
      const wish = this.dice(20);
      if (wish === 0) await this.assign(node);
      else if (wish === 1 && this.dice(4) === 0) await this.delete(node);
      else await this.call(node);
    }
    this.pass(MINUTE / 2);
    this.moments.push(this.hawser.clock.now());
    this.pass(MINUTE / 2);
  }

  /** A node polls, and then may fetch the bundle, and then may report or poll with what it has. */
  private async call(node: NodeUnderTest): Promise<void> {
    const depth = this.dice(4);
    const checksum = await this.noting(node, 'Told', () => offeredTo(node));
    if (depth > 0) await this.noting(node, 'Served', () => download(node).then(() => checksum));
    const report = () => ok(201, sendReport(node, { configurationChecksum: checksum }));
    const says = (): Promise<unknown> => (depth === 3 ? declare(node, checksum) : report());
    if (depth > 1) await this.noting(node, 'Declared', () => says().then(() => checksum));
  }

  private async noting(
    { nodeId }: NodeUnderTest,
    evidence: Evidence,
    work: () => Promise<string>,
  ): Promise<string> {
    this.pass(SECOND);
    const at = this.hawser.clock.now();
    const checksum = await work();
    this.record.note(nodeId, checksum, { at, end: this.hawser.clock.now(), evidence });
    return checksum;
  }

  private async assign(node: NodeUnderTest): Promise<void> {
    const name = (['web', 'db', 'site'] as const)[this.dice(3)] ?? 'web';
    await assign(this.hawser, node, name, { isComposite: name === 'site' });
  }

  private async delete(node: NodeUnderTest): Promise<void> {
    await ok(204, this.hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    this.deleted.add(node);
    this.record.end(node.nodeId, this.hawser.clock.now());
  }

  private async publish(name: 'web' | 'db'): Promise<void> {
    this.versions[name] += 1;
    const version = `1.${this.versions[name]}.0`;
    const files = filesOf(`${name} ${this.versions[name]}`);
    const versions = `/api/v1/configurations/${name}/versions`;
    await ok(201, this.hawser.admin.upload(versions, { fields: { version }, files }));
    await ok(200, this.hawser.admin.put(`${versions}/${version}/publish`));
  }

  private anyNode(): NodeUnderTest {
    return this.nodes[this.dice(this.nodes.length)] ?? expect.fail();
  }

  private dice(count: number): number {
    return Math.floor(this.random() * count);
  }

  private pass(milliseconds: number): void {
    this.hawser.clock.advance(milliseconds);
  }
}

function expectRecorded(told: Record<string, unknown>, { checksum, step }: Recorded, what: string): void {
  expect(told, what).to.include({ checksum, evidence: step.evidence });
  const since = Date.parse(String(told['since']));
  expect(since, what).to.be.within(step.at, step.end);
}

const filesOf = (text: string) => ({ [MAIN]: `# ${text}\n$schema: x\nresources: []\n` });
