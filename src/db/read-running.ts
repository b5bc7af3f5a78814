/** Reads what the nodes run to which one configuration or composite is assigned, with statements on the bare handle. */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import type { Evidence } from './node-tables.ts';

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

const SELECT_RUNNING = (
  column: string,
) => `select r.node_id, r.checksum, r.evidence, r.since, r.answered_checksum
  from assignments a join node_running r on r.node_id = a.node_id where a.${column} = ?`;

const SELECT_MANIFESTS =
  'select checksum, version from manifests where configuration_name = ? and is_composite = ?';

export class RunningReader {
  private readonly generations: Statement<[], number>;
  private readonly running: Record<Assigned['kind'], Statement<[string], Row>>;
  private readonly manifests: Statement<[string, number], ManifestRow>;

  /** @param handle must not write */
  constructor(handle: SqliteHandle) {
    const running = (column: string) => handle.prepare<[string], Row>(SELECT_RUNNING(column)).raw();
    this.generations = handle.prepare<[], number>('select value from running_generation').pluck();
    this.running = { configurations: running('configuration_id'), composites: running('composite_id') };
    this.manifests = handle.prepare<[string, number], ManifestRow>(SELECT_MANIFESTS).raw();
  }

  /** Rises with every change of what nodes run. */
  get generation(): number {
    return this.generations.get() ?? 0;
  }

  /** By the ids of the nodes. Those of which nothing is known are left out. */
  read({ kind, id, name }: Assigned): Map<string, RunningRow> {
    const versions = new Map(this.manifests.all(name, kind === 'composites' ? 1 : 0));
    const rows = new Map<string, RunningRow>();
    for (const [nodeId, checksum, evidence, since, answered] of this.running[kind].iterate(id)) {
      const runs = checksum === null ? null : (versions.get(checksum) ?? null);
      rows.set(nodeId, { checksum, evidence, since, answered, runs });
    }
    return rows;
  }
}
