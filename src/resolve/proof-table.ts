/** Who of the nodes with one assignment runs what it is offered, and why the others do not. */

import type { Evidence } from '../db/node-tables.ts';
import type { RunningRow } from '../db/read-running.ts';
import { firstIndex } from '../lib/binary-search.ts';
import { PROOF_REASONS, type ProofReason, proofReason } from './proof-reasons.ts';

/** What one node is offered to which the configuration or composite is assigned. */
export interface OfferedNode {
  nodeId: string;
  fqdn: string;
  /** What its next poll would be answered with; null for an error or nothing. */
  offered: { checksum: string; version: string } | null;
}

export interface VersionProof {
  nodes: { offered: number; declared: number; served: number; told: number; others: number };
  /** Those that concern any node. */
  reasons: { reason: ProofReason; nodes: number }[];
}

/** One version in the overview of the fleet. */
export interface VersionUse {
  offered: number;
  declared: number;
  served: number;
  told: number;
}

export interface ProofNode extends Pick<RunningRow, 'evidence' | 'checksum' | 'since'> {
  nodeId: string;
  fqdn: string;
  reason: ProofReason | null;
}

export interface ProofFilter {
  evidence?: Evidence | undefined;
  reason?: ProofReason | undefined;
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
  node: OfferedNode;
  running: RunningRow;
  reason: ProofReason | null;
}

type Tally = VersionProof['nodes'] & { reasons: Map<ProofReason, number> };

const COUNTED = { Declared: 'declared', Served: 'served', Told: 'told' } as const;
const NOTHING_KNOWN: RunningRow = { checksum: null, evidence: null, since: null, answered: null, runs: null };

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
  constructor(nodes: readonly OfferedNode[], running: ReadonlyMap<string, RunningRow>) {
    made += 1;
    this.id = made;
    const use = new Map<string, VersionUse>();
    this.nodes = nodes.map((node) => {
      const row = running.get(node.nodeId) ?? NOTHING_KNOWN;
      const reason = proofReason(node.offered?.checksum ?? null, row);
      if (node.offered) entryOf(use, node.offered.version, newUse).offered += 1;
      if (row.runs !== null && row.evidence) entryOf(use, row.runs, newUse)[COUNTED[row.evidence]] += 1;
      this.count(node.offered, row, reason);
      return { node, running: row, reason };
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

  private count(
    offered: OfferedNode['offered'],
    { checksum, evidence }: RunningRow,
    reason: ProofReason | null,
  ): void {
    if (offered === null) {
      this.unresolvable += 1;
      return;
    }
    const tally = entryOf(this.tallies, offered.version, newTally);
    tally.offered += 1;
    tally[evidence !== null && checksum === offered.checksum ? COUNTED[evidence] : 'others'] += 1;
    if (reason !== null) tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1);
  }
}

function isMeant(
  { node: { offered }, running, reason }: Judged,
  version: string,
  wanted: ProofFilter,
): boolean {
  if (offered !== null && offered.version !== version) return false;
  if (wanted.evidence !== undefined && running.evidence !== wanted.evidence) return false;
  return wanted.reason === undefined || wanted.reason === reason;
}

function shown({
  node: { nodeId, fqdn },
  running: { evidence, checksum, since },
  reason,
}: Judged): ProofNode {
  return { nodeId, fqdn, evidence, checksum, since, reason };
}

const newUse = (): VersionUse => ({ offered: 0, declared: 0, served: 0, told: 0 });
const newTally = (): Tally => ({ ...newUse(), others: 0, reasons: new Map() });

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
