/** Reads what all nodes ran at a time, for a thread: one look for each node. */

import type { Evidence } from './node-tables.ts';
import type { Reading } from './reading.ts';
import type { PageQuery } from './rows.ts';

/** What is asked of all nodes at a time. */
export interface PastQuestion {
  /** Epoch milliseconds. */
  at: number;
  configurationName?: string | undefined;
  isComposite?: boolean | undefined;
  version?: string | undefined;
  evidence?: Evidence | undefined;
  /** A part of the name. */
  fqdn?: string | undefined;
  /** Those alone in whose manifest this is, by whatever way. */
  within?: { kind: 'configurations' | 'composites'; name: string; version: string } | undefined;
}

export interface PastRow {
  nodeId: string;
  fqdn: string;
  deletedAt: number | null;
  checksum: string;
  /** The names in the manifest; null where there is none. */
  configurationName: string | null;
  isComposite: boolean | null;
  version: string | null;
  evidence: Evidence;
  since: number;
}

type Row = [
  nodeId: string,
  fqdn: string,
  deletedAt: number | null,
  checksum: string,
  configurationName: string | null,
  isComposite: number | null,
  version: string | null,
  evidence: Evidence,
  since: number,
];

/** A place in the order of the nodes, which no two nodes share. */
export interface PastPlace {
  fqdn: string;
  number: number;
}

const FIRST: PastPlace = { fqdn: '', number: 0 };

/** SQL with its values, in the order of their places. */
interface Piece {
  sql: string;
  values: unknown[];
}

const WITHIN = {
  configurations: 'select checksum from manifest_parts where configuration_name = ? and version = ?',
  composites:
    'select checksum from manifests where configuration_name = ? and version = ? and is_composite = 1',
};

/**
 * The nodes come first, each with the begin of its last stretch, so that both engines look each stretch up by its key.
 * @param nodes a condition for rows of `past_nodes`
 */
function ranAt(columns: string, question: PastQuestion, nodes: Piece): Piece {
  const { at, configurationName, isComposite, version, evidence, fqdn, within } = question;
  const conditions: Piece[] = [{ sql: '(h.ended is null or h.ended > ?)', values: [at] }];
  const equal = (column: string, value: unknown) =>
    value === undefined || conditions.push({ sql: `${column} = ?`, values: [value] });
  equal('m.configuration_name', configurationName);
  equal('m.is_composite', isComposite === undefined ? undefined : Number(isComposite));
  equal('m.version', version);
  if (evidence !== undefined) conditions.push({ sql: `(${EVIDENCE_THEN}) = ?`, values: [at, at, evidence] });
  if (within !== undefined)
    conditions.push({ sql: `h.checksum in (${WITHIN[within.kind]})`, values: [within.name, within.version] });
  const named = fqdn === undefined ? [] : [likeOf(fqdn)];
  return {
    sql: `with n as materialized (
        select node_id, fqdn, deleted_at, number, (
          select max(started) from node_past where node_number = past_nodes.number and started <= ?) as begun
        from past_nodes where ${nodes.sql}${fqdn === undefined ? '' : ` and fqdn like ? escape '!'`})
      select ${columns} from n join node_past h on h.node_number = n.number and h.started = n.begun
        left join manifests m on m.checksum = h.checksum
      where ${conditions.map(({ sql }) => sql).join(' and ')}`,
    values: [at, ...nodes.values, ...named, ...conditions.flatMap(({ values }) => values)],
  };
}

/** Names are in lower case. */
const likeOf = (part: string) => `%${part.toLowerCase().replace(/[!%_]/g, (each) => `!${each}`)}%`;

/** Its two values are the time. */
const EVIDENCE_THEN = `case when h.declared_at <= ? then 'Declared' when h.served_at <= ? then 'Served' else 'Told' end`;
const SINCE_THEN =
  'case when h.declared_at <= ? then h.declared_at when h.served_at <= ? then h.served_at else h.told_at end';
const COLUMNS = `n.node_id, n.fqdn, n.deleted_at, h.checksum, m.configuration_name, m.is_composite, m.version,
        ${EVIDENCE_THEN}, ${SINCE_THEN}`;

const ALL: Piece = { sql: '1 = 1', values: [] };

/** The values of the columns stand before those of the conditions in the text, but behind those of the nodes. */
function rowsAt(question: PastQuestion, nodes: Piece, rest: Piece): Piece {
  const { at } = question;
  const { sql, values } = ranAt(COLUMNS, question, nodes);
  const before = 1 + nodes.values.length + (question.fqdn === undefined ? 0 : 1);
  return {
    sql: `${sql} ${rest.sql}`,
    values: [...values.slice(0, before), at, at, at, at, ...values.slice(before), ...rest.values],
  };
}

const toRow = ([
  nodeId,
  fqdn,
  deletedAt,
  checksum,
  configurationName,
  flag,
  version,
  evidence,
  since,
]: Row): PastRow => ({
  ...{ nodeId, fqdn, deletedAt, checksum, configurationName },
  ...{ isComposite: flag === null ? null : flag === 1, version, evidence, since },
});

/** One page by name, and how many there are on all pages together. */
export function* readingPastPage(
  question: PastQuestion,
  { take, skip }: PageQuery,
): Reading<{ rows: PastRow[]; total: number }> {
  const rows: PastRow[] = [];
  let total = 0;
  yield {
    ...ranAt('count(*)', question, ALL),
    take([count]: [number]) {
      total = Number(count);
    },
  };
  const rest = { sql: 'order by n.fqdn, n.number limit ? offset ?', values: [take, skip] };
  if (total > skip) yield { ...rowsAt(question, ALL, rest), take: (row: Row) => void rows.push(toRow(row)) };
  return { rows, total };
}

/**
 * Those among some of the nodes, by name, and the place of the last node that was looked at; null behind the last one.
 * @param after null at first
 */
export function* readingPastSlice(
  question: PastQuestion,
  { after, nodes }: { after: PastPlace | null; nodes: number },
): Reading<{ rows: PastRow[]; last: PastPlace | null }> {
  const { fqdn, number } = after ?? FIRST;
  let last: PastPlace | null = null;
  yield {
    sql: `select fqdn, number from (select fqdn, number from past_nodes where (fqdn, number) > (?, ?)
      order by fqdn, number limit ?) part order by fqdn desc, number desc limit 1`,
    values: [fqdn, number, nodes],
    take([name, at]: [string, number]) {
      last = { fqdn: name, number: Number(at) };
    },
  };
  const rows: PastRow[] = [];
  // What is taken is not known to TypeScript.
  const end = last as PastPlace | null;
  if (end === null) return { rows, last };
  const some = {
    sql: '(fqdn, number) > (?, ?) and (fqdn, number) <= (?, ?)',
    values: [fqdn, number, end.fqdn, end.number],
  };
  yield {
    ...rowsAt(question, some, { sql: 'order by n.fqdn, n.number', values: [] }),
    take: (row: Row) => void rows.push(toRow(row)),
  };
  return { rows, last };
}
