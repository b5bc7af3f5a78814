/** Reads how all nodes are. */

import { sql } from 'kysely';
import type { NodeStatus } from '../domain/report-verdict.ts';
import type { Db } from './database.ts';
import { type Reading, rowQuery } from './reading.ts';
import { isStale, type StalenessRule } from './staleness.ts';

export interface NodeState {
  status: NodeStatus;
  isStale: boolean;
}

type Row = [nodeId: string, status: NodeStatus, isStale: number | boolean];

export function* readingStates(
  db: Db,
  rule: StalenessRule,
  take: (nodeId: string, state: NodeState) => void,
): Reading<void> {
  const query = sql`select nodes.id, nodes.status, ${isStale(rule)}
    from nodes left join node_check_ins on node_check_ins.node_id = nodes.id`;
  yield rowQuery(db, query, ([nodeId, status, stale]: Row) =>
    take(nodeId, { status, isStale: Boolean(stale) }),
  );
}
