/** Who of the nodes with one assignment runs what it is offered, and why the others do not. */

import type { Evidence } from '../db/node-tables.ts';
import { PROOF_REASONS, type ProofReason, proofReason } from './proof-reasons.ts';

/** What is known of one node to which the configuration or composite is assigned. */
export interface AssignedNode {
  nodeId: string;
  fqdn: string;
  /** What its next poll would be answered with; null for an error or nothing. */
  offered: { checksum: string; version: string } | null;
  /** What it runs, how the server knows, and since when (epoch milliseconds); null together. */
  checksum: string | null;
  evidence: Evidence | null;
  since: number | null;
  /** What its last poll was answered with. */
  answered: string | null;
  /** The version in what it runs, where that is this configuration or composite. */
  runs: string | null;
}

export interface ProofCounts {
  offered: number;
  declared: number;
  served: number;
  told: number;
  others: number;
}

export interface VersionProof {
  nodes: ProofCounts;
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

export type ProofNode = Pick<AssignedNode, 'nodeId' | 'fqdn' | 'evidence' | 'checksum' | 'since'> & {
  reason: ProofReason | null;
};

export interface ProofFilter {
  evidence?: Evidence | undefined;
  reason?: ProofReason | undefined;
}

/** Which part of a list is asked for. */
export interface Part {
  /** Only nodes behind this fqdn; null for all. */
  after: string | null;
  skip: number;
  take: number;
}

export interface ProofPage {
  rows: ProofNode[];
  total: number;
}

type Judged = ProofNode & { offered: AssignedNode['offered'] };

const COUNTED = { Declared: 'declared', Served: 'served', Told: 'told' } as const;

export class ProofTable {
  private readonly nodes: readonly Judged[];
  private readonly use = new Map<string, VersionUse>();

  /** @param nodes by fqdn */
  constructor(nodes: readonly AssignedNode[]) {
    this.nodes = nodes.map(({ answered, runs, ...node }) => {
      if (node.offered) this.useOf(node.offered.version).offered += 1;
      if (runs !== null && node.evidence) this.useOf(runs)[COUNTED[node.evidence]] += 1;
      return { ...node, reason: proofReason(node.offered?.checksum ?? null, { ...node, answered }) };
    });
  }

  /** The number of nodes. */
  get size(): number {
    return this.nodes.length;
  }

  /** By version, those alone that a node is offered or runs. */
  get versions(): ReadonlyMap<string, VersionUse> {
    return this.use;
  }

  proof(version: string): VersionProof {
    const nodes = { offered: 0, declared: 0, served: 0, told: 0, others: 0 };
    const reasons = new Map<ProofReason, number>();
    for (const { offered, checksum, evidence, reason } of this.of(version)) {
      if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (offered === null) continue;
      nodes.offered += 1;
      nodes[evidence !== null && checksum === offered.checksum ? COUNTED[evidence] : 'others'] += 1;
    }
    const found = PROOF_REASONS.flatMap((reason) => {
      const count = reasons.get(reason);
      return count === undefined ? [] : [{ reason, nodes: count }];
    });
    return { nodes, reasons: found };
  }

  /** One part of the nodes that are offered the version, and of those that get an error or nothing, by fqdn. */
  list(version: string, { evidence, reason, after, skip, take }: ProofFilter & Part): ProofPage {
    const rows: ProofNode[] = [];
    let total = 0;
    for (const { offered: _offered, ...node } of this.of(version)) {
      if (evidence !== undefined && node.evidence !== evidence) continue;
      if (reason !== undefined && node.reason !== reason) continue;
      total += 1;
      if (total > skip && rows.length < take && (after === null || node.fqdn > after)) rows.push(node);
    }
    return { rows, total };
  }

  private *of(version: string): Generator<Judged> {
    for (const node of this.nodes) if (node.offered === null || node.offered.version === version) yield node;
  }

  private useOf(version: string): VersionUse {
    const known = this.use.get(version) ?? { offered: 0, declared: 0, served: 0, told: 0 };
    this.use.set(version, known);
    return known;
  }
}
