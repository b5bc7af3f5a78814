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

/** What `rollout_nodes` says of a node. */
export interface KnownNode {
  statusBefore: NodeStatus;
  operation: 'Test' | 'Set' | null;
  status: NodeStatus | null;
  hasSet: boolean;
}

/** All of it is of one moment. The keys are the ids of nodes. */
export interface RolloutFacts {
  /** When those that have taken the version said so, in epoch milliseconds. */
  takenAt: ReadonlyMap<string, number>;
  known: ReadonlyMap<string, KnownNode>;
  modes: ReadonlyMap<string, string>;
  /** When they called last, in epoch milliseconds. */
  lastCalls: ReadonlyMap<string, number>;
  /** Who has reported after the report of this number was written. All nodes where that was null. */
  reporters: ReadonlySet<string> | null;
  /** The number of the last report. */
  lastReport: number;
}

type KnownRow = [
  nodeId: string,
  before: NodeStatus,
  operation: RolloutNodesTable['operation'],
  status: NodeStatus | null,
  hasSet: number,
];

const SELECT_TAKEN = `select node_id, ${TAKEN}, since from node_running r`;

const SELECT_KNOWN = `select node_id, status_before, operation, status, has_set from rollout_nodes
  where kind = ? and resource_id = ? and version = ?`;

/** @param after the number of the last report that the caller knows of; null where it knows of none */
export function* readingRollout(rolledOut: RolledOut, after: number | null): Reading<RolloutFacts> {
  const { kind, id, version } = rolledOut;
  const checksums = yield* readingChecksums(rolledOut, version);
  const takenAt = new Map<string, number>();
  yield {
    sql: SELECT_TAKEN,
    take([nodeId, checksum, since]: [string, string | null, number]) {
      if (checksum !== null && checksums.has(checksum)) takenAt.set(nodeId, since);
    },
  };
  const known = new Map<string, KnownNode>();
  yield {
    sql: SELECT_KNOWN,
    values: [kind, id, version],
    take: ([nodeId, statusBefore, operation, status, hasSet]: KnownRow) =>
      void known.set(nodeId, { statusBefore, operation, status, hasSet: hasSet === 1 }),
  };
  return { takenAt, known, ...(yield* readingNodes()), ...(yield* readingReporters(after)) };
}

function* readingNodes(): Reading<Pick<RolloutFacts, 'modes' | 'lastCalls'>> {
  const modes = new Map<string, string>();
  yield {
    sql: 'select id, configuration_mode from nodes where configuration_mode is not null',
    take: ([nodeId, mode]: [string, string]) => void modes.set(nodeId, mode),
  };
  const lastCalls = new Map<string, number>();
  yield {
    sql: 'select node_id, last_check_in from node_check_ins',
    take: ([nodeId, at]: [string, number]) => void lastCalls.set(nodeId, at),
  };
  return { modes, lastCalls };
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
