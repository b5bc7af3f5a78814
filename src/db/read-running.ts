/** Reads what the nodes run that get one configuration or composite. */

import type { Evidence } from './node-tables.ts';
import type { Outcome } from './outcomes.ts';
import type { Reading } from './reading.ts';

export interface RunningRow {
  /** What the node runs, how the server knows, and since when (epoch milliseconds); null together. */
  checksum: string | null;
  evidence: Evidence | null;
  since: number | null;
  /** What its last poll was answered with. */
  answered: string | null;
  /** How the last report went that names the checksum; null where none does. */
  outcome: Exclude<Outcome, 'Untested'> | null;
  /** The version of the configuration or composite in what it runs; null where it is not in it. */
  runs: string | null;
}

export type TargetKind = 'configurations' | 'composites';

/** What is assigned to nodes. */
export interface Target {
  kind: TargetKind;
  id: string;
}

/** A configuration or composite. */
export interface Assigned extends Target {
  name: string;
}

type Row = [
  nodeId: string,
  checksum: string | null,
  evidence: Evidence | null,
  since: number | null,
  answered: string | null,
  outcome: RunningRow['outcome'],
  runs: string | null,
];

const COLUMNS = { configurations: 'configuration_id', composites: 'composite_id' } as const;

/** The manifest of what a node runs, as far as the configuration or composite is in it. Those of the past are many more. */
const MANIFESTS = {
  configurations: 'manifest_parts m on m.checksum = r.checksum and m.configuration_name = ?',
  composites: 'manifests m on m.checksum = r.checksum and m.configuration_name = ? and m.is_composite = 1',
};

const selectRunning = (kind: TargetKind, by: TargetKind) =>
  `select r.node_id, r.checksum, r.evidence, r.since, r.answered_checksum,
    case when o.had_errors is null then null when o.had_errors = 1 or o.lcm_failed = 1
      then '${'Failed' satisfies Outcome}' else '${'Applied' satisfies Outcome}' end, m.version
  from assignments a join node_running r on r.node_id = a.node_id
    left join node_outcomes o on o.node_id = r.node_id and o.checksum = r.checksum
    left join ${MANIFESTS[kind]}
  where a.${COLUMNS[by]} = ?`;

/** A number that rises with every change of what nodes run, and of how that went. */
export function* readingRunningGeneration(): Reading<number> {
  let generation = 0;
  yield {
    sql: 'select value from running_generation',
    take([value]: [number]) {
      generation = value;
    },
  };
  return generation;
}

/**
 * What the nodes run, by their ids. Those of which nothing is known are left out.
 * @param by what is assigned to these nodes
 */
export function* readingRunning(
  { kind, name }: Pick<Assigned, 'kind' | 'name'>,
  by: readonly Target[],
): Reading<Map<string, RunningRow>> {
  const rows = new Map<string, RunningRow>();
  for (const target of by)
    yield {
      sql: selectRunning(kind, target.kind),
      values: [name, target.id],
      take([nodeId, checksum, evidence, since, answered, outcome, runs]: Row) {
        rows.set(nodeId, { checksum, evidence, since, answered, outcome, runs });
      },
    };
  return rows;
}
