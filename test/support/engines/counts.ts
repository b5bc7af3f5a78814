/** Counts anew what triggers count. */

import type { EngineHandle, Row } from './both.ts';

/** Each query gives what a table of counts should hold. Rows whose count is 0 may be missing or there. */
const COUNTED: Record<string, string> = {
  checksum_uses: `select checksum, sum(uses) as uses, sum(past) as past from (
    select checksum, 1 as uses, 0 as past from node_running where checksum is not null
    union all select served_checksum, 1, 0 from node_running where served_checksum is not null
    union all select checksum, 1, 0 from report_checksums
    union all select checksum, 0, 1 from node_past) as named group by checksum`,
  report_counts: [0, 60_000, 3_600_000]
    .map(
      (span) => `select ${span} as span, ${span === 0 ? '0' : `timestamp / ${span}`} as period, operation,
        coalesce(in_desired_state, -1) as in_desired_state, had_errors, count(*) as count
      from reports group by 2, 3, 4, 5`,
    )
    .join(' union all '),
};

/** Rows that differ from the node that they belong to, or that belong to nothing. */
const STRAYS: Record<string, string> = {
  'nodes beside what they have': `select n.id from nodes n left join assignments a on a.node_id = n.id
    left join node_running r on r.node_id = n.id
    where coalesce(n.assigned_id, '') <> coalesce(a.configuration_id, a.composite_id, '')
      or coalesce(n.assigned_as, '') <> case when a.node_id is null then '' else coalesce(cast(a.major_version as text), '')
        || '|' || coalesce(a.prerelease_channel, '') || '|' || coalesce(a.version, '') end
      or coalesce(n.evidence, '') <> coalesce(r.evidence, '')`,
  'calls beside their node': `select k.node_id from node_check_ins k join nodes n on n.id = k.node_id
    where k.number is null or k.number <> n.number`,
  'tags beside their node': `select t.* from node_tags t join nodes n on n.id = t.node_id
    where t.fqdn is null or t.fqdn <> n.fqdn`,
  'manifests of nothing':
    'select checksum from manifests where checksum not in (select checksum from checksum_uses)',
  'checksums of no report':
    'select * from report_checksums where report_seq not in (select seq from reports)',
  'ends of no certificate': `select n.id from nodes n
    left join node_certificates c on c.node_id = n.id and c.state = 'current'
    where coalesce(n.certificate_end, 0) <> coalesce(c.not_after, 0)`,
};

/** @returns what is wrong, with the rows; empty where all counts are exact */
export async function countFaults(engine: EngineHandle): Promise<Record<string, Row[]>> {
  const faults: Record<string, Row[]> = {};
  const note = (name: string, rows: Row[]) => {
    if (rows.length > 0) faults[name] = rows;
  };
  for (const [table, query] of Object.entries(COUNTED))
    note(table, different(await engine.all(`select * from ${table}`), await engine.all(query)));
  for (const [name, query] of Object.entries(STRAYS)) note(name, await engine.all(query));
  return faults;
}

/** Rows that are on one side only. */
function different(kept: readonly Row[], counted: readonly Row[]): Row[] {
  const textOf = (row: Row) => JSON.stringify(Object.entries(row).sort());
  const isCounted = ({ count, uses, past }: Row) => (count ?? uses) !== 0 || (past ?? 0) !== 0;
  const sides = [kept.filter(isCounted), counted] as const;
  const texts = sides.map((rows) => new Set(rows.map(textOf)));
  return [
    ...sides[0].filter((row) => !texts[1]?.has(textOf(row))),
    ...sides[1].filter((row) => !texts[0]?.has(textOf(row))),
  ];
}
