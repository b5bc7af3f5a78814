/** Row types of what nodes ran at which time. `schema.ts` explains the conventions. */

/** A node of which it is known what it ran. It stays when the node is deleted. */
export interface PastNodesTable {
  /** The number of the node, which no other node ever has. */
  number: number;
  node_id: string;
  fqdn: string;
  /** When the node was deleted; null while it is there. */
  deleted_at: number | null;
}

/**
 * A stretch in which what a node ran was one checksum. Triggers of `node_running` write it, so that it never says anything
 * else than that table did. Stretches of one node do not overlap: `started` belongs to one, `ended` does not.
 */
export interface NodePastTable {
  node_number: number;
  started: number;
  /** Null while the node runs it. */
  ended: number | null;
  checksum: string;
  /** When evidence of each kind came first, and made what was known stronger; null where it did not. */
  told_at: number | null;
  served_at: number | null;
  declared_at: number | null;
}

export interface PastTables {
  past_nodes: PastNodesTable;
  node_past: NodePastTable;
}

/** The statements that make the tables. The rows lie by nodes, so that what a node ran at a time is found by one look. */
export function pastStatements(text: string, table = ''): readonly string[] {
  return [
    `create table past_nodes (
      number bigint not null primary key,
      node_id ${text} not null unique,
      fqdn ${text} not null,
      deleted_at bigint) ${table}`,
    'create index past_nodes_by_name on past_nodes (fqdn, number)',
    `create table node_past (
      node_number bigint not null,
      started bigint not null,
      ended bigint,
      checksum ${text} not null,
      told_at bigint,
      served_at bigint,
      declared_at bigint,
      primary key (node_number, started),
      check (ended > started)) ${table}`,
  ];
}

/** An upgrade begins with what each node runs. */
export const FIRST_PAST: readonly string[] = [
  `insert into past_nodes (number, node_id, fqdn)
    select n.number, n.id, n.fqdn from nodes n join node_running r on r.node_id = n.id`,
  `insert into node_past (node_number, started, checksum, ${evidenceColumns()})
    select n.number, r.since, r.checksum, ${evidenceTimes('r.evidence', 'r.since')}
    from node_running r join nodes n on n.id = r.node_id where r.checksum is not null`,
];

export function evidenceColumns(): string {
  return 'told_at, served_at, declared_at';
}

/** The columns of a stretch that begins at a time with evidence of one kind. */
export function evidenceTimes(evidence: string, at: string): string {
  return ['Told', 'Served', 'Declared']
    .map((kind) => `case ${evidence} when '${kind}' then ${at} end`)
    .join(', ');
}
