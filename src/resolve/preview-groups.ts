/** Puts the nodes of a preview into groups: those whose answer changes in the same way. */

import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { Delivery, DeliveryError, Outcome } from './delivery.ts';
import type { FleetOffers } from './fleet-offers.ts';
import type { GroupFacts, GroupFactsMaker } from './group-facts.ts';
import type { OfferedVersion, PreviewChange, PreviewCounts, ShownGroup } from './preview-types.ts';

export interface Group {
  change: PreviewChange;
  before: OfferedVersion | null;
  after: OfferedVersion | null;
  error: DeliveryError | null;
  nodeCount: number;
  /** The places of its first nodes, of which there are at most five. */
  sample: number[];
  facts: GroupFacts;
}

/** How the answer of a node changes. */
interface Difference {
  change: PreviewChange;
  before: Delivery | null;
  after: Delivery | null;
  error: DeliveryError | null;
}

const SAMPLE = 5;
/** A node that is in no group, because nothing changes for it. */
const UNCHANGED = -1;
/** A node that the caller may not see, or that was not asked for. */
const LEFT_OUT = -2;

export class PreviewGroups {
  readonly groups: Group[] = [];
  readonly counts: PreviewCounts = { nodes: 0, changed: 0, unchanged: 0, unresolvable: 0, notVisible: 0 };
  private readonly sides: { before: FleetOffers; after: FleetOffers };
  private readonly facts: GroupFactsMaker;
  /** The group of each node by its place, or one of the two numbers above. */
  private readonly groupOf: Int32Array;
  /** Groups by what their nodes get on both sides, and by the keys of their nodes. */
  private readonly byChecksums = new Map<string, number>();
  private readonly byKeys = new Map<string, number>();

  constructor(sides: { before: FleetOffers; after: FleetOffers }, facts: GroupFactsMaker) {
    this.sides = sides;
    this.facts = facts;
    this.groupOf = new Int32Array(sides.before.snapshot.size).fill(LEFT_OUT);
  }

  /** Puts a node into its group, if it changes. Nodes come in the order of their places. */
  add(at: number): Awaitable<void> {
    const { before, after } = this.sides;
    const [old, next] = [before.keyOf(at), after.keyOf(at)];
    if (old === next) return this.put(at, UNCHANGED);
    const keys = `${old}>${next}`;
    const known = this.byKeys.get(keys);
    if (known !== undefined) return this.put(at, known);
    return andThen(this.differenceAt(at), (difference) =>
      andThen(this.groupFor(difference), (group) => {
        this.byKeys.set(keys, group);
        this.put(at, group);
      }),
    );
  }

  /** Puts a node into a group of its own, also if nothing changes. */
  async addAlone(at: number): Promise<void> {
    this.put(at, await this.makeGroup(await this.differenceAt(at)));
  }

  /** The index of the node's group; null for an unchanged node. Undefined for a node that was not added. */
  indexOf(at: number): number | null | undefined {
    const group = this.groupOf[at] ?? LEFT_OUT;
    if (group === LEFT_OUT) return undefined;
    return group === UNCHANGED ? null : group;
  }

  private differenceAt(at: number): Awaitable<Difference> {
    const { before, after } = this.sides;
    return andThen(before.outcomeOf(at), (old) =>
      andThen(after.outcomeOf(at), (next) => differenceOf(old, next)),
    );
  }

  private groupFor(difference: Difference): Awaitable<number> {
    const { change, before, after, error } = difference;
    if (change === 'Unchanged') return UNCHANGED;
    const key = `${before?.manifest.checksum ?? ''} ${after?.manifest.checksum ?? error?.code}`;
    const known = this.byChecksums.get(key);
    if (known !== undefined) return known;
    return this.makeGroup(difference).then((group) => {
      this.byChecksums.set(key, group);
      return group;
    });
  }

  private async makeGroup({ change, before, after, error }: Difference): Promise<number> {
    const facts = await this.facts.factsOf(before, after);
    const sides = { before: offered(before), after: offered(after) };
    return this.groups.push({ change, ...sides, error, nodeCount: 0, sample: [], facts }) - 1;
  }

  private put(at: number, index: number): void {
    const group = this.groups[index];
    this.groupOf[at] = index;
    if (group) {
      group.nodeCount += 1;
      if (group.sample.length < SAMPLE) group.sample.push(at);
    }
    const { counts } = this;
    const change = group?.change ?? 'Unchanged';
    if (change === 'Changed') counts.changed += 1;
    else if (change === 'Unresolvable') counts.unresolvable += 1;
    else counts.unchanged += 1;
  }
}

/** The poll of a node to which nothing is assigned answers so. */
const NOTHING_ASSIGNED: DeliveryError = {
  code: 'no_configuration_assigned',
  message: 'No configuration is assigned to this node',
};

function differenceOf(old: Outcome, next: Outcome): Difference {
  const [before, after] = [deliveryIn(old), deliveryIn(next)];
  const error = next === null ? NOTHING_ASSIGNED : 'error' in next ? next.error : null;
  const sides = { before, after };
  if (before && !after) return { ...sides, change: 'Unresolvable', error };
  const isSame = before?.manifest.checksum === after?.manifest.checksum;
  return { ...sides, change: isSame ? 'Unchanged' : 'Changed', error: null };
}

function deliveryIn(outcome: Outcome): Delivery | null {
  return outcome !== null && 'delivery' in outcome ? outcome.delivery : null;
}

function offered(delivery: Delivery | null): OfferedVersion | null {
  if (delivery === null) return null;
  const { configurationName, version, checksum } = delivery.manifest;
  return { configurationName, version, checksum };
}

/** What answers show of a group. */
export function toShownGroup(
  { change, before, after, error, nodeCount, sample, facts }: Group,
  { nodeIds, fqdns }: FleetOffers['snapshot']['nodes'],
): ShownGroup {
  const { files, parameterChanges, newProblems } = facts;
  return {
    nodeCount,
    sampleNodes: sample.map((at) => ({ nodeId: nodeIds[at] as string, fqdn: fqdns[at] as string })),
    ...{ change, before, after, files, parameterChanges, newProblems },
    ...{ code: error?.code ?? null, message: error?.message ?? null },
  };
}
