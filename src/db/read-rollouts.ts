/** Reads what is known of the nodes of a fleet that have taken a version which rolls out. */

import type { NodeStatus } from '../domain/report-verdict.ts';
import { readingChecksums, TAKEN } from './read-holders.ts';
import type { Reading } from './reading.ts';
import type { RolloutKey, RolloutNodesTable } from './rollout-tables.ts';

/** A version, by the id and the name of its configuration or composite. */
export interface RolledOut {
  kind: RolloutKey['kind'];
  id: string;
  name: string;
  version: string;
}

/** What is known of a node, whatever it is offered. */
export interface FleetNode {
  /** When it said first that it has taken the version, in epoch milliseconds; null where it has not. */
  takenAt: number | null;
  /** Null where it is not noted yet, or has never taken it. */
  statusBefore: NodeStatus | null;
  /** Those of the last report since it took the version; null together. */
  operation: 'Test' | 'Set' | null;
  status: NodeStatus | null;
  hasSet: boolean;
  mode: string | null;
  /** When it called last, in epoch milliseconds; 0 where it never has; null where it is noted, so it has called since. */
  lastCall: number | null;
}

interface Reporters {
  reporters: ReadonlySet<string> | null;
  lastReport: number;
}

type Row = [
  nodeId: string,
  mode: string | null,
  lastCall: number | null,
  checksum: string | null,
  since: number | null,
  statusBefore: NodeStatus | null,
  operation: RolloutNodesTable['operation'],
  status: NodeStatus | null,
  hasSet: number | null,
];

/**
 * One row for each node, because each row that is handed over costs more than to find what is joined to it. They come by
 * their ids, as what is joined is kept by these ids: in any other order SQLite reads most pages many times.
 */
const SELECT_NODES = `select n.id, n.configuration_mode,
    case when b.node_id is null
      then coalesce((select c.last_check_in from node_check_ins c where c.node_id = n.id), 0) end,
    ${TAKEN}, coalesce(b.taken_at, r.since), b.status_before, b.operation, b.status, b.has_set
  from nodes n left join node_running r on r.node_id = n.id
    left join rollout_nodes b on b.kind = ? and b.resource_id = ? and b.version = ? and b.node_id = n.id
  order by n.id`;

/**
 * Reads each node of one moment. The nodes are handed over one by one and not kept,
 * because there may be very many.
 * @param after the number of the last report that the caller knows of; null where it knows of none
 * @param take `reporters` are those who have reported after that; null stands for all
 * @returns the number of the last report
 */
export function* readingRollout(
  rolledOut: RolledOut,
  after: number | null,
  take: (nodeId: string, node: FleetNode, reporters: ReadonlySet<string> | null) => void,
): Reading<number> {
  const { kind, id, version } = rolledOut;
  const checksums = yield* readingChecksums(rolledOut, version);
  const { reporters, lastReport } = yield* readingReporters(after);
  yield {
    sql: SELECT_NODES,
    values: [kind, id, version],
    take([nodeId, mode, lastCall, checksum, since, statusBefore, operation, status, hasSet]: Row) {
      const takenAt = checksum !== null && checksums.has(checksum) ? since : null;
      const node = { takenAt, statusBefore, operation, status, hasSet: hasSet === 1, mode, lastCall };
      take(nodeId, node, reporters);
    },
  };
  return lastReport;
}

function* readingReporters(after: number | null): Reading<Reporters> {
  let lastReport = 0;
  yield {
    sql: 'select coalesce(max(seq), 0) from reports',
    take([last]: [number]) {
      lastReport = last;
    },
  };
  if (after === null) return { reporters: null, lastReport };
  const reporters = new Set<string>();
  yield {
    sql: 'select node_id from reports where seq > ?',
    values: [after],
    take: ([nodeId]: [string]) => void reporters.add(nodeId),
  };
  return { reporters, lastReport };
}
