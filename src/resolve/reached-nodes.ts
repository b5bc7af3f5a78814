/**
 * The one answer to "which nodes, by which way": whom a configuration or composite reaches, because it is assigned to
 * them or is a child of a composite that is, following or pinned. All that counts or names nodes of a version asks here.
 */

import type { Assignment } from '../db/node-lookup.ts';
import type { Target } from '../db/read-running.ts';
import { countWay, newWays, type Ways } from '../domain/ways.ts';
import type { RepositoryRef } from '../versions/store.ts';
import type { FleetOffers, Way } from './fleet-offers.ts';

export interface ReachedNode extends Pick<Way, 'via' | 'isPinned'> {
  nodeId: string;
  fqdn: string;
  /**
   * The checksum with which its next poll would be answered, and the version of the configuration or composite in it;
   * null for an error or nothing.
   */
  offered: { checksum: string; version: string } | null;
}

export interface Reached {
  /** They are sorted by fqdn. */
  nodes: readonly ReachedNode[];
  /** What is assigned to them. */
  by: readonly Target[];
  /** Whether it stays so until something is changed. */
  isLasting: boolean;
}

/** The nodes that are offered one version, by each way. */
export function waysOf(nodes: readonly ReachedNode[], version: string): Ways {
  const ways = newWays();
  for (const node of nodes) if (node.offered?.version === version) countWay(ways, node);
  return ways;
}

/** The errors of polls that stay until something is changed. */
const LASTING = ['no_eligible_version', 'no_configuration_assigned', 'parameter_merge_failed'];

export async function nodesReached(offers: FleetOffers, repository: RepositoryRef): Promise<Reached> {
  const { nodes: all, assignments } = offers.snapshot;
  const wayTo = offers.waysTo(repository);
  const checksums = new Map<string, string | null>();
  const assigned = new Set<number>();
  const nodes: ReachedNode[] = [];
  let isLasting = true;
  for (const [at, nodeId] of all.nodeIds.entries()) {
    const way = wayTo(at);
    if (way === null) continue;
    assigned.add(all.assignmentOf[at] ?? -1);
    const key = offers.keyOf(at);
    let checksum = checksums.get(key);
    if (checksum === undefined) {
      const outcome = await offers.outcomeOf(at);
      checksum = outcome && 'delivery' in outcome ? outcome.delivery.manifest.checksum : null;
      if (outcome && 'error' in outcome && !LASTING.includes(outcome.error.code)) isLasting = false;
      checksums.set(key, checksum);
    }
    const { via, isPinned, version } = way;
    const offered = checksum === null || version === null ? null : { checksum, version };
    nodes.push({ nodeId, fqdn: all.fqdns[at] ?? '', via, isPinned, offered });
  }
  const by = new Map(assignments.flatMap((each, place) => (assigned.has(place) ? [targetOf(each)] : [])));
  return { nodes, by: [...by.values()], isLasting };
}

function targetOf({ configurationId, compositeId }: Assignment): [id: string, target: Target] {
  const id = compositeId ?? configurationId ?? '';
  return [id, { kind: compositeId === null ? 'configurations' : 'composites', id }];
}
