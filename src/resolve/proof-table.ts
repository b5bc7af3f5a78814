/** Who of the nodes that a configuration or composite reaches runs what it is offered, and why the others do not. */

import type { Evidence } from '../db/node-tables.ts';
import type { Outcome } from '../db/outcomes.ts';
import type { RunningRow } from '../db/read-running.ts';
import { countWay, newWays, type Ways } from '../domain/ways.ts';
import { firstIndex } from '../lib/binary-search.ts';
import { entryOf } from '../lib/entry-of.ts';
import { PROOF_REASONS, type ProofReason, proofReason } from './proof-reasons.ts';
import type { ReachedNode } from './reached-nodes.ts';

/** How many nodes are offered a version, and how many of them run what they are offered. */
interface Counts extends Ways {
  declared: number;
  served: number;
  told: number;
  others: number;
  /** Those that declare it, by how the last report went that names it. */
  failed: number;
  applied: number;
  untested: number;
}

export interface VersionProof {
  nodes: Counts;
  /** Those that concern any node. */
  reasons: { reason: ProofReason; nodes: number }[];
}

/** One version in the overview of the fleet. */
export type VersionUse = Ways & Pick<Counts, 'declared' | 'served' | 'told'>;

export interface ProofNode extends Pick<RunningRow, 'evidence' | 'checksum' | 'since'> {
  nodeId: string;
  fqdn: string;
  /** The composite that brings it; null where it is assigned itself. */
  via: string | null;
  isPinned: boolean;
  reason: ProofReason | null;
  /** Null unless the node declares that it runs what it is offered. */
  outcome: Outcome | null;
}

export interface ProofFilter {
  evidence?: Evidence | undefined;
  reason?: ProofReason | undefined;
  outcome?: Outcome | undefined;
}

/** Which part of a list is asked for. */
export interface Part {
  skip: number;
  take: number;
}

export interface ProofPage {
  rows: ProofNode[];
  /** How many nodes there are on all pages together. */
  total: number;
}

interface Judged {
  node: ReachedNode;
  running: RunningRow;
  reason: ProofReason | null;
  outcome: Outcome | null;
}

type Tally = Counts & { reasons: Map<ProofReason, number> };

const COUNTED = { Declared: 'declared', Served: 'served', Told: 'told' } as const;
const OUTCOME_COUNTED = { Failed: 'failed', Applied: 'applied', Untested: 'untested' } as const;
const NOTHING_KNOWN: RunningRow = {
  ...{ checksum: null, evidence: null, since: null, answered: null },
  ...{ outcome: null, runs: null },
};

let made = 0;

export class ProofTable {
  /** No other table of this thread has it. */
  readonly id: number;
  /** By version, those alone that a node is offered or runs. */
  readonly versions: ReadonlyMap<string, VersionUse>;
  private readonly nodes: readonly Judged[];
  /** By version, those alone that a node is offered. */
  private readonly tallies = new Map<string, Tally>();
  private unresolvable = 0;

  /**
   * @param nodes by fqdn
   * @param running what is known of them, by their ids
   */
  constructor(nodes: readonly ReachedNode[], running: ReadonlyMap<string, RunningRow>) {
    made += 1;
    this.id = made;
    const use = new Map<string, VersionUse>();
    this.nodes = nodes.map((node) => {
      const row = running.get(node.nodeId) ?? NOTHING_KNOWN;
      const reason = proofReason(node.offered?.checksum ?? null, row);
      const outcome = reason === null ? (row.outcome ?? 'Untested') : null;
      const judged: Judged = { node, running: row, reason, outcome };
      if (node.offered) countWay(entryOf(use, node.offered.version, newUse), node);
      if (row.runs !== null && row.evidence) entryOf(use, row.runs, newUse)[COUNTED[row.evidence]] += 1;
      this.count(judged);
      return judged;
    });
    this.versions = use;
  }

  proof(version: string): VersionProof {
    const { reasons: counts, ...nodes } = this.tallies.get(version) ?? newTally();
    const reasons = PROOF_REASONS.flatMap((reason) => {
      const count = reason === 'Unresolvable' ? this.unresolvable : (counts.get(reason) ?? 0);
      return count === 0 ? [] : [{ reason, nodes: count }];
    });
    return { nodes, reasons };
  }

  /** The number of nodes. */
  get size(): number {
    return this.nodes.length;
  }

  /** One part of the nodes that are offered the version, and of those that get an error or nothing, by fqdn. */
  page(version: string, filter: ProofFilter, { skip, take }: Part): ProofPage {
    const rows: ProofNode[] = [];
    let total = 0;
    for (const judged of this.nodes) {
      if (!isMeant(judged, version, filter)) continue;
      total += 1;
      if (total > skip && rows.length < take) rows.push(shown(judged));
    }
    return { rows, total };
  }

  /**
   * The next of the same nodes behind an fqdn; null begins with the first.
   * @param take the most of them
   */
  next(
    version: string,
    filter: ProofFilter,
    { after, take }: { after: string | null; take: number },
  ): ProofNode[] {
    const rows: ProofNode[] = [];
    const first = firstIndex(this.nodes, ({ node }) => after === null || node.fqdn > after);
    for (let at = first; at < this.nodes.length && rows.length < take; at += 1) {
      const judged = this.nodes[at] as Judged;
      if (isMeant(judged, version, filter)) rows.push(shown(judged));
    }
    return rows;
  }

  private count({ node, running: { checksum, evidence }, reason, outcome }: Judged): void {
    const { offered } = node;
    if (offered === null) {
      this.unresolvable += 1;
      return;
    }
    const tally = entryOf(this.tallies, offered.version, newTally);
    countWay(tally, node);
    tally[evidence !== null && checksum === offered.checksum ? COUNTED[evidence] : 'others'] += 1;
    if (outcome !== null) tally[OUTCOME_COUNTED[outcome]] += 1;
    if (reason !== null) tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1);
  }
}

function isMeant(
  { node: { offered }, running, reason, outcome }: Judged,
  version: string,
  wanted: ProofFilter,
): boolean {
  if (offered !== null && offered.version !== version) return false;
  if (wanted.evidence !== undefined && running.evidence !== wanted.evidence) return false;
  if (wanted.outcome !== undefined && outcome !== wanted.outcome) return false;
  return wanted.reason === undefined || wanted.reason === reason;
}

function shown({
  node: { nodeId, fqdn, via, isPinned },
  running: { evidence, checksum, since },
  reason,
  outcome,
}: Judged): ProofNode {
  return { nodeId, fqdn, via, isPinned, evidence, checksum, since, reason, outcome };
}

const newUse = (): VersionUse => ({ ...newWays(), declared: 0, served: 0, told: 0 });

/** The counts of a version that nobody is offered. */
export const NO_USE: Readonly<VersionUse> = newUse();

const newTally = (): Tally => ({
  ...newUse(),
  ...{ others: 0, failed: 0, applied: 0, untested: 0 },
  reasons: new Map(),
});
