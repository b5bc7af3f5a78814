/** Reads what the nodes run to which one configuration or composite is assigned. */

import type { Evidence } from './node-tables.ts';
import type { Reading } from './reading.ts';

export interface RunningRow {
  /** What the node runs, how the server knows, and since when (epoch milliseconds); null together. */
  checksum: string | null;
  evidence: Evidence | null;
  since: number | null;
  /** What its last poll was answered with. */
  answered: string | null;
  /** The version in what it runs, where that is the configuration or composite that is assigned. */
  runs: string | null;
}

/** A configuration or composite. */
export interface Assigned {
  kind: 'configurations' | 'composites';
  id: string;
  name: string;
}

type Row = [
  nodeId: string,
  checksum: string | null,
  evidence: Evidence | null,
  since: number | null,
  answered: string | null,
];
type ManifestRow = [checksum: string, version: string];

const SELECT_RUNNING = (column: string) =>
  `select r.node_id, r.checksum, r.evidence, r.since, r.answered_checksum
  from assignments a join node_running r on r.node_id = a.node_id where a.${column} = ?`;

const SELECT_MANIFESTS =
  'select checksum, version from manifests where configuration_name = ? and is_composite = ?';

/** A number that rises with every change of what nodes run. */
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

/** What the nodes run, by their ids. Those of which nothing is known are left out. */
export function* readingRunning({ kind, id, name }: Assigned): Reading<Map<string, RunningRow>> {
  const versions = new Map<string, string>();
  yield {
    sql: SELECT_MANIFESTS,
    values: [name, kind === 'composites' ? 1 : 0],
    take: ([checksum, version]: ManifestRow) => void versions.set(checksum, version),
  };
  const rows = new Map<string, RunningRow>();
  yield {
    sql: SELECT_RUNNING(kind === 'composites' ? 'composite_id' : 'configuration_id'),
    values: [id],
    take([nodeId, checksum, evidence, since, answered]: Row) {
      const runs = checksum === null ? null : (versions.get(checksum) ?? null);
      rows.set(nodeId, { checksum, evidence, since, answered, runs });
    },
  };
  return rows;
}
