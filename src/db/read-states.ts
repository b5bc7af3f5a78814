/** Reads how all nodes are. */

import type { NodeStatus } from '../domain/report-verdict.ts';
import type { Reading } from './reading.ts';

export interface NodeState {
  status: NodeStatus;
  isStale: boolean;
}

type Row = [nodeId: string, status: NodeStatus, lastCall: number | null, interval: number | null];

const SELECT = `select n.id, n.status, c.last_check_in, n.configuration_mode_interval_ms
  from nodes n left join node_check_ins c on c.node_id = n.id`;

/** As `isStale` of api/nodes/staleness.ts has it: a node of which that is unknown is not stale. */
export function* readingStates(
  { now, stalenessMultiplier }: { now: number; stalenessMultiplier: number },
  take: (nodeId: string, state: NodeState) => void,
): Reading<void> {
  yield {
    sql: SELECT,
    take([nodeId, status, lastCall, interval]: Row) {
      const isStale =
        lastCall !== null && interval !== null && now - lastCall > interval * stalenessMultiplier;
      take(nodeId, { status, isStale });
    },
  };
}
