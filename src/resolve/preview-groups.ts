/**
 * Puts the nodes of a preview into groups: those whose answer changes in the same way. It keeps numbers alone, because
 * there may be as many groups as nodes.
 */

import type { Delivery, DeliveryError, Outcome } from './delivery.ts';
import type { FleetOffers } from './fleet-offers.ts';
import type { PreviewChange, PreviewCounts } from './preview-types.ts';

/** How the answer of a node changes. */
export interface Difference {
  change: PreviewChange;
  /** Null where the node gets nothing, or an error. */
  before: Delivery | null;
  after: Delivery | null;
  /** Why an unresolvable node gets nothing any more. */
  error: DeliveryError | null;
}

/** A group by the places of its nodes. */
export interface Group {
  change: PreviewChange;
  /** The number of what its nodes get on both sides. */
  content: number;
  nodeCount: number;
  /** Its first nodes, of which there are at most five. */
  sample: readonly number[];
}

interface Waiting {
  at: number;
  keys: string;
}

const SAMPLE = 5;
const NO_NODES: number[] = [];
/** A node that is in no group, because nothing changes for it. */
const UNCHANGED = -1;
/** A node that the caller may not see, or that was not asked for. */
const LEFT_OUT = -2;

export class PreviewGroups {
  readonly counts: PreviewCounts = { nodes: 0, changed: 0, unchanged: 0, unresolvable: 0, notVisible: 0 };
  private readonly sides: { before: FleetOffers; after: FleetOffers };
  private readonly contentOf: (at: number) => number;
  /** The places of nodes whose desired settings would be others. They change also where what they get stays. */
  private readonly reset: ReadonlySet<number>;
  private readonly kinds: Pick<Group, 'change' | 'content'>[] = [];
  /** The group of each node by its place, or one of the two numbers above. */
  private readonly groupOf: Int32Array;
  /** Groups by what their nodes get on both sides, and by the keys of their nodes. */
  private readonly byChecksums = new Map<string, number>();
  private readonly byKeys = new Map<string, number>();

  /** @param contentOf tells of the node at a place what it gets on both sides. Those of a group get the same */
  constructor(
    sides: { before: FleetOffers; after: FleetOffers },
    contentOf: (at: number) => number,
    reset: ReadonlySet<number> = new Set(),
  ) {
    this.reset = reset;
    this.sides = sides;
    this.contentOf = contentOf;
    this.groupOf = new Int32Array(sides.before.snapshot.size).fill(LEFT_OUT);
  }

  /**
   * Puts nodes into their groups.
   * @param prepare is called before with the places of those nodes whose answers have to be made
   */
  async add(places: Iterable<number>, prepare: (places: readonly number[]) => Promise<void>): Promise<void> {
    const { before, after } = this.sides;
    const waiting: Waiting[] = [];
    for (const at of places) {
      const [old, next] = [before.keyOf(at), after.keyOf(at)];
      const keys = `${old}>${next} ${this.contentOf(at)}`;
      const known = old === next ? UNCHANGED : this.byKeys.get(keys);
      if (known === undefined) waiting.push({ at, keys });
      else this.put(at, known);
    }
    if (waiting.length > 0) await prepare(waiting.map(({ at }) => at));
    for (const { at, keys } of waiting) {
      // One of the same keys may have come before.
      const group = this.byKeys.get(keys) ?? this.groupFor(at, await this.differenceAt(at));
      this.byKeys.set(keys, group);
      this.put(at, group);
    }
  }

  /** Puts a node into a group of its own, also if nothing changes. */
  async addAlone(at: number): Promise<void> {
    const { change } = await this.differenceAt(at);
    this.put(at, this.kinds.push({ change, content: this.contentOf(at) }) - 1);
  }

  async differenceAt(at: number): Promise<Difference> {
    const { before, after } = this.sides;
    return differenceOf(await before.outcomeOf(at), await after.outcomeOf(at));
  }

  /** The number of the node's group, from 0; null for an unchanged node. Undefined for a node that was not added. */
  numberOf(at: number): number | null | undefined {
    const group = this.groupOf[at] ?? LEFT_OUT;
    if (group === LEFT_OUT) return undefined;
    return group === UNCHANGED ? null : group;
  }

  /** How the node changes; undefined for a node that was not added. */
  changeOf(at: number): PreviewChange | undefined {
    const group = this.groupOf[at] ?? LEFT_OUT;
    if (group === LEFT_OUT) return undefined;
    const change = this.kinds[group]?.change ?? 'Unchanged';
    return change === 'Unchanged' && this.reset.has(at) ? 'Changed' : change;
  }

  /** All groups by their numbers, once all nodes are added. */
  list(): Group[] {
    const groups: (Group & { sample: number[] })[] = [];
    for (const kind of this.kinds) groups.push({ ...kind, nodeCount: 0, sample: NO_NODES });
    for (const [at, number] of this.groupOf.entries()) {
      const group = groups[number];
      if (group === undefined) continue;
      group.nodeCount += 1;
      // Most samples are of one node. `push` would make room for many.
      if (group.sample.length < SAMPLE) group.sample = [...group.sample, at];
    }
    return groups;
  }

  private groupFor(at: number, { change, before, after, error }: Difference): number {
    if (change === 'Unchanged') return UNCHANGED;
    const content = this.contentOf(at);
    const key = `${content} ${before?.manifest.checksum ?? ''} ${after?.manifest.checksum ?? error?.code}`;
    const known = this.byChecksums.get(key);
    if (known !== undefined) return known;
    const made = this.kinds.push({ change, content }) - 1;
    this.byChecksums.set(key, made);
    return made;
  }

  private put(at: number, group: number): void {
    const { counts } = this;
    this.groupOf[at] = group;
    const change = this.changeOf(at);
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
  const sides = { before, after };
  if (before && !after) {
    const error = next !== null && 'error' in next ? next.error : NOTHING_ASSIGNED;
    return { ...sides, change: 'Unresolvable', error };
  }
  const isSame = before?.manifest.checksum === after?.manifest.checksum;
  return { ...sides, change: isSame ? 'Unchanged' : 'Changed', error: null };
}

function deliveryIn(outcome: Outcome): Delivery | null {
  return outcome !== null && 'delivery' in outcome ? outcome.delivery : null;
}
