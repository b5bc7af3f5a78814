/** How many nodes are offered each version of configurations and composites, by whatever way, and how these nodes are. */

import type { StateCounts } from '../db/fleet-summary.ts';
import { type NodeState, readingStates } from '../db/read-states.ts';
import type { StalenessRule } from '../db/staleness.ts';
import { entryOf } from '../lib/entry-of.ts';
import type { CurrentOffers } from './current-offers.ts';
import type { Fleet } from './fleet.ts';

/** What is known of one configuration or composite at one moment. */
export interface OfferedCounts extends StateCounts {
  /** Nodes by the version that they are offered. */
  versions: Record<string, number>;
}

const COLUMNS = {
  Compliant: 'compliant',
  NonCompliant: 'nonCompliant',
  Error: 'error',
  Unknown: 'unknown',
} as const;

export const noCounts = (): StateCounts => ({
  ...{ nodes: 0, compliant: 0, nonCompliant: 0, error: 0, unknown: 0, stale: 0 },
});

export function countState(counts: StateCounts, { status, isStale }: NodeState): void {
  counts.nodes += 1;
  counts[COLUMNS[status]] += 1;
  if (isStale) counts.stale += 1;
}

export function offeredTasks(fleet: () => Fleet, offers: () => CurrentOffers) {
  return {
    /** By `configurations/<name>` and `composites/<name>`, those alone that any node is offered. */
    async offeredCounts(rule: StalenessRule): Promise<ReadonlyMap<string, OfferedCounts>> {
      const offered = await offers().read();
      const counts = new Map<string, OfferedCounts>();
      const newCounts = (): OfferedCounts => ({ ...noCounts(), versions: {} });
      const { snapshot } = offered;
      const take = (nodeId: string, state: NodeState) => {
        const at = snapshot.findPlace(nodeId);
        for (const { key, version } of at === undefined ? [] : offered.versionsFor(at)) {
          const counted = entryOf(counts, key, newCounts);
          countState(counted, state);
          counted.versions[version] = (counted.versions[version] ?? 0) + 1;
        }
      };
      const { database } = fleet();
      await database.read(readingStates(database.queries, rule, take));
      return counts;
    },
  };
}
