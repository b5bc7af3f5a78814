/**
 * The questions about who runs what, for a thread. What the fleet is offered is read once for each state of the fleet, and
 * what is known of the nodes of an assignment once after each change of what nodes run. So asking again costs little.
 */

import { LRUCache } from 'lru-cache';
import { type Assigned, readingRunning } from '../db/read-running.ts';
import type { CurrentOffers } from './current-offers.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import {
  type OfferedNode,
  type Part,
  type ProofFilter,
  type ProofNode,
  type ProofPage,
  ProofTable,
  type VersionProof,
  type VersionUse,
} from './proof-table.ts';

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
  offered: readonly OfferedNode[];
  /** Made of what nodes run at this generation. */
  table: { made: ProofTable; generation: number } | null;
}

class Proofs {
  private readonly fleet: Fleet;
  private readonly offers: CurrentOffers;
  private readonly known = new LRUCache<string, Known>({
    maxSize: MAX_NODES,
    sizeCalculation: ({ offered }) => offered.length + 1,
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
    const known = await this.knownOf(assigned);
    const { database } = this.fleet;
    // It is read before the rows, so that a commit in between is noticed by the next question.
    const generation = await this.offers.runningGeneration();
    if (known.table?.generation === generation) return known.table.made;
    const made = new ProofTable(known.offered, await database.read(readingRunning(assigned)));
    this.tables.set(made.id, made);
    known.table = { made, generation };
    return made;
  }

  remembered(id: number | null): ProofTable | null {
    return (id !== null && this.tables.get(id)) || null;
  }

  private async knownOf(assigned: Assigned): Promise<Known> {
    const offers = await this.offers.read();
    const key = `${assigned.kind} ${assigned.id}`;
    const known = this.known.get(key);
    if (known?.offers === offers) return known;
    const { offered, isLasting } = await offeredBy(offers, assigned);
    const made = { offers, offered, table: null };
    this.known.set(key, made);
    // Nothing tells when a disk can be read again, or an object is put back.
    if (!isLasting) this.offers.forget();
    return made;
  }
}

/** The errors of polls that stay until something is changed. */
const LASTING = ['no_eligible_version', 'no_configuration_assigned', 'parameter_merge_failed'];

/** What each node is offered to which this is assigned, by fqdn, and whether it stays so until something is changed. */
async function offeredBy(offers: FleetOffers, { kind, id }: Assigned) {
  const { nodes, assignments } = offers.snapshot;
  const idOf = kind === 'composites' ? ('compositeId' as const) : ('configurationId' as const);
  const isAssigned = assignments.map((assignment) => assignment[idOf] === id);
  const byKey = new Map<string, OfferedNode['offered']>();
  const offered: OfferedNode[] = [];
  let isLasting = true;
  for (const [at, nodeId] of nodes.nodeIds.entries()) {
    if (!isAssigned[nodes.assignmentOf[at] ?? -1]) continue;
    const key = offers.keyOf(at);
    let offer = byKey.get(key);
    if (offer === undefined) {
      const outcome = await offers.outcomeOf(at);
      offer = outcome && 'delivery' in outcome ? shorten(outcome.delivery.manifest) : null;
      if (outcome && 'error' in outcome && !LASTING.includes(outcome.error.code)) isLasting = false;
      byKey.set(key, offer);
    }
    offered.push({ nodeId, fqdn: nodes.fqdns[at] ?? '', offered: offer });
  }
  return { offered, isLasting };
}

function shorten({ checksum, version }: { checksum: string; version: string }) {
  return { checksum, version };
}
