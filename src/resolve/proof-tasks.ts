/**
 * The questions about who runs what, for a thread. What the fleet is offered is read once for each state of the fleet, and
 * what is known of the nodes of an assignment once after each change of what nodes run. So asking again costs little.
 */

import { LRUCache } from 'lru-cache';
import { type Assigned, readingRunning } from '../db/read-running.ts';
import type { Ways } from '../domain/ways.ts';
import type { CurrentOffers } from './current-offers.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import {
  type Part,
  type ProofFilter,
  type ProofNode,
  type ProofPage,
  ProofTable,
  type VersionProof,
  type VersionUse,
} from './proof-table.ts';
import { nodesReached, type Reached, waysOf } from './reached-nodes.ts';
import {
  effectOfFileWithdrawal,
  effectOfWithdrawal,
  type FileWithdrawalEffect,
  type WithdrawalEffect,
} from './withdrawal-effect.ts';

export interface ProofQuestion {
  assigned: Assigned;
  version: string;
}

/** The number of nodes of which something is remembered. Each costs some 500 bytes. */
const MAX_NODES = 250_000;

export interface ProofSlice {
  rows: ProofNode[];
  /** By which the next slice asks for more of the same state, for as long as it is remembered. */
  table: number;
}

export function proofTasks(fleet: () => Fleet, offers: () => CurrentOffers) {
  let opened: Proofs | null = null;
  const proofs = () => {
    opened ??= new Proofs(fleet(), offers());
    return opened;
  };
  return {
    /** By version, those alone that a node is offered or runs. */
    async versionUse(assigned: Assigned): Promise<ReadonlyMap<string, VersionUse>> {
      return (await proofs().of(assigned)).versions;
    },

    /** How many nodes are offered the version. What they run is not looked at. */
    async waysOf({ assigned, version }: ProofQuestion): Promise<Ways> {
      const { reached } = await proofs().reached(assigned);
      return waysOf(reached.nodes, version);
    },

    async withdrawalEffect({ assigned, version }: ProofQuestion): Promise<WithdrawalEffect> {
      const { offers, reached } = await proofs().reached(assigned);
      return effectOfWithdrawal(fleet(), { offers, reached }, { repository: assigned, version });
    },

    /** @param input.assigned the configuration of the file */
    async fileWithdrawalEffect({
      assigned,
      ...file
    }: ProofQuestion & { series: string }): Promise<FileWithdrawalEffect> {
      const { offers, reached } = await proofs().reached(assigned);
      return effectOfFileWithdrawal(fleet(), { offers, reached }, { name: assigned.name, ...file });
    },

    async proof({ assigned, version }: ProofQuestion): Promise<VersionProof> {
      return (await proofs().of(assigned)).proof(version);
    },

    async proofPage({ assigned, version, filter, part }: ProofQuestion & Wish<Part>): Promise<ProofPage> {
      return (await proofs().of(assigned)).page(version, filter, part);
    },

    /** @param input.part.table is that of the slice before; null for the first one */
    async proofSlice({
      assigned,
      version,
      filter,
      part,
    }: ProofQuestion & Wish<SlicePart>): Promise<ProofSlice> {
      const table = proofs().remembered(part.table) ?? (await proofs().of(assigned));
      return { rows: table.next(version, filter, part), table: table.id };
    },
  };
}

interface Wish<P> {
  filter: ProofFilter;
  part: P;
}

interface SlicePart {
  /** The fqdn of the last node of the slice before. */
  after: string | null;
  take: number;
  table: number | null;
}

interface Known {
  offers: FleetOffers;
  reached: Reached;
  /** Made of what nodes run at this generation. */
  table: { made: ProofTable; generation: number } | null;
}

class Proofs {
  private readonly fleet: Fleet;
  private readonly offers: CurrentOffers;
  private readonly known = new LRUCache<string, Known>({
    maxSize: MAX_NODES,
    sizeCalculation: ({ reached }) => reached.nodes.length + 1,
  });
  /** The last tables, for whoever reads a whole list slice by slice. */
  private readonly tables = new LRUCache<number, ProofTable>({
    maxSize: MAX_NODES,
    sizeCalculation: ({ size }) => size + 1,
  });

  constructor(fleet: Fleet, offers: CurrentOffers) {
    this.fleet = fleet;
    this.offers = offers;
  }

  async of(assigned: Assigned): Promise<ProofTable> {
    const known = await this.reached(assigned);
    const { database } = this.fleet;
    // It is read before the rows, so that a commit in between is noticed by the next question.
    const generation = await this.offers.runningGeneration();
    if (known.table?.generation === generation) return known.table.made;
    const { nodes, by } = known.reached;
    const made = new ProofTable(nodes, await database.read(readingRunning(assigned, by)));
    this.tables.set(made.id, made);
    known.table = { made, generation };
    return made;
  }

  /** Whom it reaches now. */
  async reached(assigned: Assigned): Promise<Known> {
    const offers = await this.offers.read();
    const key = `${assigned.kind} ${assigned.id}`;
    const known = this.known.get(key);
    if (known?.offers === offers) return known;
    const reached = await nodesReached(offers, assigned);
    const made = { offers, reached, table: null };
    this.known.set(key, made);
    // Nothing tells when a disk can be read again, or an object is put back.
    if (!reached.isLasting) this.offers.forget();
    return made;
  }

  remembered(id: number | null): ProofTable | null {
    return (id !== null && this.tables.get(id)) || null;
  }
}
