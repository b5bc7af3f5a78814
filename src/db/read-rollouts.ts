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
  /** When it called last, in epoch milliseconds; 0 where it never has. */
  lastCall: number;
}

/** All of it is of one moment. The keys are the ids of nodes. */
export interface RolloutFacts {
  nodes: ReadonlyMap<string, FleetNode>;
  /** Who has reported after the report of this number was written. All nodes where that was null. */
  reporters: ReadonlySet<string> | null;
  /** The number of the last report. */
  lastReport: number;
}

type Row = [
  nodeId: string,
  mode: string | null,
  lastCall: number,
  checksum: string | null,
  since: number | null,
  statusBefore: NodeStatus | null,
  operation: RolloutNodesTable['operation'],
  status: NodeStatus | null,
  hasSet: number | null,
];

/** One row for each node, because each row that is handed over costs more than to find what is joined to it. */
const SELECT_NODES = `select n.id, n.configuration_mode, coalesce(c.last_check_in, 0), ${TAKEN},
    coalesce(b.taken_at, r.since),
    b.status_before, b.operation, b.status, b.has_set
  from nodes n left join node_check_ins c on c.node_id = n.id left join node_running r on r.node_id = n.id
    left join rollout_nodes b on b.kind = ? and b.resource_id = ? and b.version = ? and b.node_id = n.id`;

/** @param after the number of the last report that the caller knows of; null where it knows of none */
export function* readingRollout(rolledOut: RolledOut, after: number | null): Reading<RolloutFacts> {
  const { kind, id, version } = rolledOut;
  const checksums = yield* readingChecksums(rolledOut, version);
  const nodes = new Map<string, FleetNode>();
  yield {
    sql: SELECT_NODES,
    values: [kind, id, version],
    take([nodeId, mode, lastCall, checksum, since, statusBefore, operation, status, hasSet]: Row) {
      const takenAt = checksum !== null && checksums.has(checksum) ? since : null;
      const isSet = hasSet === 1;
      nodes.set(nodeId, { takenAt, statusBefore, operation, status, hasSet: isSet, mode, lastCall });
    },
  };
  return { nodes, ...(yield* readingReporters(after)) };
}

function* readingReporters(after: number | null): Reading<Pick<RolloutFacts, 'reporters' | 'lastReport'>> {
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
