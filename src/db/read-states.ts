/** Reads how all nodes are. */

import type { NodeStatus } from '../domain/report-verdict.ts';
import type { Reading } from './reading.ts';
import { type StalenessRule, staleText } from './staleness.ts';

export interface NodeState {
  status: NodeStatus;
  isStale: boolean;
}

type Row = [nodeId: string, status: NodeStatus, isStale: number | boolean];

const STALE = staleText({ lastCheckIn: 'c.last_check_in', interval: 'n.configuration_mode_interval_ms' });
const SELECT = `select n.id, n.status, ${STALE} from nodes n left join node_check_ins c on c.node_id = n.id`;

export function* readingStates(
  { now, stalenessMultiplier }: StalenessRule,
  take: (nodeId: string, state: NodeState) => void,
): Reading<void> {
  yield {
    sql: SELECT,
    values: [now, stalenessMultiplier],
    take: ([nodeId, status, isStale]: Row) => take(nodeId, { status, isStale: Boolean(isStale) }),
  };
}
