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
];
type VersionRow = [checksum: string, version: string];

const SELECT_RUNNING: Record<TargetKind, string> = {
  configurations: selectRunning('configuration_id'),
  composites: selectRunning('composite_id'),
};

function selectRunning(column: string): string {
  return `select r.node_id, r.checksum, r.evidence, r.since, r.answered_checksum,
    case when o.had_errors is null then null when o.had_errors = 1 or o.lcm_failed = 1
      then '${'Failed' satisfies Outcome}' else '${'Applied' satisfies Outcome}' end
  from assignments a join node_running r on r.node_id = a.node_id
    left join node_outcomes o on o.node_id = r.node_id and o.checksum = r.checksum
  where a.${column} = ?`;
}

const SELECT_VERSIONS: Record<TargetKind, string> = {
  configurations: 'select checksum, version from manifest_parts where configuration_name = ?',
  composites: 'select checksum, version from manifests where configuration_name = ? and is_composite = 1',
};

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
  const versions = new Map<string, string>();
  yield {
    sql: SELECT_VERSIONS[kind],
    values: [name],
    take: ([checksum, version]: VersionRow) => void versions.set(checksum, version),
  };
  const rows = new Map<string, RunningRow>();
  for (const target of by)
    yield {
      sql: SELECT_RUNNING[target.kind],
      values: [target.id],
      take([nodeId, checksum, evidence, since, answered, outcome]: Row) {
        const runs = checksum === null ? null : (versions.get(checksum) ?? null);
        rows.set(nodeId, { checksum, evidence, since, answered, outcome, runs });
      },
    };
  return rows;
}
