/** Reads what is known of the nodes of a fleet while a version rolls out, and what was noted of those of its steps. */

import type { Fault } from '../domain/report-faults.ts';
import type { NodeStatus } from '../domain/report-verdict.ts';
import type { RolloutRecord } from '../domain/rollout.ts';
import type { CountedNode } from '../domain/rollout-counts.ts';
import { readingChecksums, TAKEN } from './read-holders.ts';
import type { Reading } from './reading.ts';
import type { RolloutKey, RolloutNodesTable } from './rollout-tables.ts';

/** What rolls out, by the id and the name of its configuration or composite. */
export interface RolledOut {
  kind: RolloutKey['kind'];
  id: string;
  name: string;
  key: string;
  version: string | null;
  /** The tags of its parameter files, without those that skip their scope, of which no manifest tells. */
  tags: readonly string[];
}

export function toRolledOut(
  owner: Pick<RolledOut, 'kind' | 'id' | 'name'>,
  { key, version, parameters }: RolloutRecord,
): RolledOut {
  const files = parameters.filter(({ isPassthrough }) => !isPassthrough);
  return { ...owner, key, version, tags: files.map(({ tag }) => tag) };
}

/** Stands for the version among what a node is offered of a rollout. The others are the tags of files. */
export const THE_VERSION = 'version';

/** What is known of a node, whatever it is offered. */
export interface FleetNode {
  /** When it said first that it has taken the version, in epoch milliseconds; null where it has not. */
  takenAt: number | null;
  /** Null where it is not noted yet, or has never taken it. */
  statusBefore: NodeStatus | null;
  /** The last one since it took the version. */
  report: CountedNode['report'];
  mode: string | null;
  /** When it called last, in epoch milliseconds; 0 where it never has; null where it has taken it, so it has called since. */
  lastCall: number | null;
  /** The place of the step that is noted for it; null for none. */
  step: number | null;
}

/** Of the reports with numbers above `from` and up to `upTo`, so many were looked at. */
export interface SeenReports {
  from: number;
  upTo: number;
  count: number;
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
  step: number | null,
];

/**
 * One row for each node, because each row that is handed over costs more than to find what is joined to it. They come by
 * their ids, as what is joined is kept by these ids: in any other order SQLite reads most pages many times.
 */
const SELECT_NODES = `select n.id, n.configuration_mode,
    case when b.taken_at is null
      then coalesce((select c.last_check_in from node_check_ins c where c.node_id = n.id), 0) end,
    ${TAKEN}, coalesce(b.taken_at, r.since), b.status_before, b.operation, b.status, b.has_set, b.step
  from nodes n left join node_running r on r.node_id = n.id
    left join rollout_nodes b on b.kind = ? and b.resource_id = ? and b.version = ? and b.node_id = n.id
  order by n.id`;

/**
 * Reads each node of one moment. The nodes are handed over one by one and not kept, because there may be very many.
 * @param seen the reports that the caller has looked at; null for none
 * @param givenTo tells what of the rollout a node is offered: `THE_VERSION`, and the tags of files
 * @param take is told whether the node has reported since
 * @returns what is seen with them
 */
export function* readingRollout(
  rolledOut: RolledOut,
  seen: SeenReports | null,
  {
    givenTo,
    take,
  }: {
    givenTo(nodeId: string): readonly string[];
    take(nodeId: string, node: FleetNode, hasReported: boolean): void;
  },
): Reading<SeenReports> {
  const { kind, id, key } = rolledOut;
  const parts = yield* readingPartsOf(rolledOut);
  const { reporters, seen: next } = yield* readingReporters(seen);
  yield {
    sql: SELECT_NODES,
    values: [kind, id, key],
    take([nodeId, mode, lastCall, checksum, since, statusBefore, operation, status, hasSet, step]: Row) {
      const held = checksum === null ? undefined : parts.get(checksum);
      // One that is not offered any of it may have some of it all the same.
      const hasTaken = held !== undefined && givenTo(nodeId).every((part) => held.has(part));
      const takenAt = hasTaken ? since : null;
      const report = toReport(operation, status, hasSet);
      take(nodeId, { takenAt, statusBefore, report, mode, lastCall, step }, reporters?.has(nodeId) ?? true);
    },
  };
  return next;
}

/** What of a rollout each manifest holds, by its checksum. */
function* readingPartsOf(rolledOut: RolledOut): Reading<ReadonlyMap<string, ReadonlySet<string>>> {
  const { name, version, tags } = rolledOut;
  const parts = new Map<string, Set<string>>();
  const add = (checksum: string, part: string) => {
    const held = parts.get(checksum);
    if (held) held.add(part);
    else parts.set(checksum, new Set([part]));
  };
  if (version !== null)
    for (const checksum of yield* readingChecksums(rolledOut, version)) add(checksum, THE_VERSION);
  for (const tag of tags)
    yield {
      sql: 'select checksum from manifest_files where tag = ? and configuration_name = ?',
      values: [tag, name],
      take: ([checksum]: [string]) => add(checksum, tag),
    };
  return parts;
}

/** A report as a row of `rollout_nodes` has it. */
export function toReport(
  operation: RolloutNodesTable['operation'],
  status: NodeStatus | null,
  hasSet: number | null,
): CountedNode['report'] {
  if (operation === null || status === null) return null;
  return { operation, status, isAfterSet: hasSet === 1 };
}

interface Reporters {
  /** Null stands for all nodes. */
  reporters: ReadonlySet<string> | null;
  seen: SeenReports;
}

function* readingReporters(seen: SeenReports | null): Reading<Reporters> {
  let [upTo, count, added] = [seen?.upTo ?? 0, 0, 0];
  yield {
    sql: 'select coalesce(max(seq), 0) from reports',
    take([last]: [number]) {
      upTo = Math.max(upTo, last);
    },
  };
  if (seen === null) return { reporters: null, seen: { from: upTo, upTo, count } };
  yield {
    sql: 'select count(*) from reports where seq > ? and seq <= ?',
    values: [seen.from, seen.upTo],
    take([found]: [number]) {
      count = found;
    },
  };
  // On PostgreSQL a report may be committed after one with a higher number. Then it is among those that count as seen.
  const begin = count === seen.count ? seen.upTo : seen.from;
  const reporters = new Set<string>();
  yield {
    sql: 'select node_id, seq from reports where seq > ?',
    values: [begin],
    take([nodeId, seq]: [string, number]) {
      reporters.add(nodeId);
      if (seq > seen.upTo) added += 1;
    },
  };
  return { reporters, seen: { from: seen.upTo, upTo, count: added } };
}

/** A node of an open step, as it was noted by the last evaluation. */
export interface NotedNode extends Omit<FleetNode, 'step'> {
  nodeId: string;
  fqdn: string;
  step: number;
  /** The number of the last report, unless it is Compliant. */
  reportSeq: number | null;
}

type NotedRow = [
  nodeId: string,
  fqdn: string,
  mode: string | null,
  lastCall: number,
  step: number,
  takenAt: number | null,
  statusBefore: NodeStatus | null,
  operation: RolloutNodesTable['operation'],
  status: NodeStatus | null,
  hasSet: number,
  reportSeq: number | null,
];

/** SQLite keeps to the order of a cross join, so that a slice costs no more than its nodes and those of no step between them. */
const SELECT_NOTED = `select n.id, n.fqdn, n.configuration_mode,
    coalesce((select c.last_check_in from node_check_ins c where c.node_id = n.id), 0),
    b.step, b.taken_at, b.status_before, b.operation, b.status, b.has_set, b.report_seq
  from nodes n cross join rollout_nodes b
  where n.fqdn > ? and b.kind = ? and b.resource_id = ? and b.version = ? and b.node_id = n.id and b.step is not null
  order by n.fqdn limit ?`;

/** The nodes of the open steps behind an fqdn, so many at most, by fqdn. */
export function* readingNoted(
  { kind, id, key }: RolledOut,
  { after, take: most }: { after: string; take: number },
): Reading<NotedNode[]> {
  const nodes: NotedNode[] = [];
  yield {
    sql: SELECT_NOTED,
    values: [after, kind, id, key, most],
    take(row: NotedRow) {
      const [
        nodeId,
        fqdn,
        mode,
        lastCall,
        step,
        takenAt,
        statusBefore,
        operation,
        status,
        hasSet,
        reportSeq,
      ] = row;
      const report = toReport(operation, status, hasSet);
      nodes.push({ nodeId, fqdn, mode, lastCall, step, takenAt, statusBefore, report, reportSeq });
    },
  };
  return nodes;
}

/** What is wrong by reports, by their numbers. Those that were deleted or tell of no fault are left out. */
export function* readingFaults(numbers: readonly number[]): Reading<ReadonlyMap<number, Fault>> {
  const faults = new Map<number, Fault>();
  if (numbers.length === 0) return faults;
  yield {
    sql: `select report_seq, first_fault from report_faults
      where first_fault is not null and report_seq in (${numbers.map(() => '?').join()})`,
    values: numbers,
    take([seq, fault]: [number, string]) {
      faults.set(seq, JSON.parse(fault));
    },
  };
  return faults;
}
