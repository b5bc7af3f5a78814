/**
 * Counts of reports, evidence, uses of checksums, tags and statuses, and what ends with something else. A statement changes
 * each count once, however many rows it has changed.
 */

import { afterEach, differences, type Event } from './trigger.ts';

const EVENTS = ['insert', 'update', 'delete'] as const;

/** Adds the differences of some columns to a table of counts. @param where leaves out rows that are not counted */
function count(table: string, columns: string, changes: string, where = ''): string {
  return `insert into ${table} (${columns}, count)
      select ${columns}, sum(by) from (${changes}) as changes ${where}
      group by ${columns} having sum(by) <> 0 order by ${columns}
      on conflict (${columns}) do update set count = ${table}.count + excluded.count;`;
}

const counted = (
  counts: string,
  { table, event, columns, where }: { table: string; event: Event; columns: string; where?: string },
) =>
  afterEach(event, table, `${counts}_${event}`, count(counts, columns, differences(event, columns), where));

/** Spans in milliseconds; 0 stands for all times together. db/report-counts.ts uses the same ones. */
const SPANS = '(0), (60000), (3600000)';
const REPORT_KEY = 'span, period, operation, in_desired_state, had_errors';

/** The keys of reports in the counts of all spans. */
const reportKeys = (event: Event) =>
  `select span, case span when 0 then 0 else timestamp / span end as period, operation,
      coalesce(in_desired_state, -1) as in_desired_state, had_errors, by
    from (${differences(event, 'timestamp, operation, in_desired_state, had_errors')}) as reports
    cross join (values ${SPANS}) as spans (span)`;

const GONE_REPORTS = `(select ${REPORT_KEY}, count(*) as reports from (${reportKeys('delete')}) as keys
      group by ${REPORT_KEY}) as less`;
const SAME_COUNT = REPORT_KEY.split(', ')
  .map((column) => `report_counts.${column} = less.${column}`)
  .join(' and ');

/** An update would have to move a count from one row to another, and nothing needs that. */
const unchangeable = (table: string, what: string) => [
  `create function ${table}_stay() returns trigger language plpgsql as $$
    begin raise exception '${what} are never changed'; end $$`,
  `create trigger ${table}_stay before update on ${table} for each row execute function ${table}_stay()`,
];

const REPORTS = [
  ...afterEach(
    'insert',
    'reports',
    'report_counts_insert',
    count('report_counts', REPORT_KEY, reportKeys('insert')),
  ),
  ...afterEach(
    'delete',
    'reports',
    'report_counts_delete',
    `delete from report_counts using ${GONE_REPORTS} where ${SAME_COUNT} and count <= reports;
      update report_counts set count = count - reports from ${GONE_REPORTS} where ${SAME_COUNT};
      delete from report_checksums where report_seq in (select seq from gone);`,
  ),
  ...unchangeable('reports', 'reports'),
  ...unchangeable('audit_entries', 'audit entries'),
];

/** The sums of the changes of uses, of those that rise or of those that fall. */
const uses = (changes: string, which: '>' | '<') =>
  `select checksum, sum(by) as by from (${changes}) as changes
      where checksum is not null group by checksum having sum(by) ${which} 0 order by checksum`;

/** @param changes a query for checksums that came and went, as `differences` gives it */
export const useChecksums = (changes: string) =>
  `insert into checksum_uses (checksum, uses) ${uses(changes, '>')}
      on conflict (checksum) do update set uses = checksum_uses.uses + excluded.uses;`;

/** A manifest ends with the last use of its checksum. */
export const leaveChecksums = (changes: string) =>
  `with ended as (
        delete from checksum_uses using (${uses(changes, '<')}) as less
        where checksum_uses.checksum = less.checksum and uses + by <= 0 returning checksum_uses.checksum)
      delete from manifests using ended where manifests.checksum = ended.checksum;
      update checksum_uses set uses = uses + by from (${uses(changes, '<')}) as less
        where checksum_uses.checksum = less.checksum;`;

const use = (event: Event) => useChecksums(differences(event, 'checksum'));
const leave = (event: Event) => leaveChecksums(differences(event, 'checksum'));

const USES = [
  ...afterEach('insert', 'node_running', 'checksum_uses_node_insert', use('insert')),
  ...afterEach('update', 'node_running', 'checksum_uses_node_update', use('update') + leave('update')),
  ...afterEach('delete', 'node_running', 'checksum_uses_node_delete', leave('delete')),
  ...afterEach('insert', 'report_checksums', 'checksum_uses_report_insert', use('insert')),
  ...afterEach('delete', 'report_checksums', 'checksum_uses_report_delete', leave('delete')),
];

const NODES = [
  ...EVENTS.flatMap((event) =>
    counted('evidence_counts', {
      table: 'node_running',
      event,
      columns: 'evidence',
      where: 'where evidence is not null',
    }),
  ),
  ...EVENTS.flatMap((event) =>
    counted('tag_counts', { table: 'node_tags', event, columns: 'scope_value_id' }),
  ),
  ...afterEach(
    'delete',
    'scope_values',
    'tag_counts_of_gone_value',
    'delete from tag_counts where scope_value_id in (select id from gone);',
  ),
  ...(['insert', 'delete'] as const).flatMap((event) =>
    counted('node_counts', { table: 'nodes', event, columns: 'status, lcm_status' }),
  ),
];

/** The statement for `node_counts` after an update of nodes. */
export const COUNT_STATUSES = count(
  'node_counts',
  'status, lcm_status',
  differences('update', 'status, lcm_status'),
);

/** Grants name holders and resources without foreign keys, because each may be in one of several tables. */
const GRANTS = [
  ['users', 'grants_of_user', `principal_type = 'User' and principal_id`],
  ['groups', 'grants_of_group', `principal_type = 'Group' and principal_id`],
  [
    'configurations',
    'grants_on_configuration',
    `resource_kind in ('configuration', 'parameters') and resource_id`,
  ],
  ['composites', 'grants_on_composite', `resource_kind = 'composite' and resource_id`],
].flatMap(([table = '', name = '', theirs]) =>
  afterEach('delete', table, name, `delete from grants where ${theirs} in (select id from gone);`),
);

export const COUNT_TRIGGERS: readonly string[] = [...REPORTS, ...USES, ...NODES, ...GRANTS];
