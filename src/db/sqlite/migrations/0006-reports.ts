/** Reports, and the number of reports of each outcome, so that no list has to count a million rows. */

import { type Kysely, type Migration, sql } from 'kysely';

const REPORTS = [
  // `seq` is the order of writing, because two reports may share a millisecond. The result is the last column, so that
  // a list that does not show it does not read it.
  `create table reports (
    seq integer primary key,
    id text not null unique,
    node_id text not null references nodes (id) on delete cascade,
    timestamp bigint not null,
    operation text not null check (operation in ('Get', 'Set', 'Test', 'Export')),
    in_desired_state integer,
    had_errors integer not null,
    result text not null)`,
  // This finds a node's reports, newest first. It holds all columns that a list is filtered and ordered by.
  `create index reports_by_node on reports
    (node_id, timestamp, seq, operation, in_desired_state, had_errors)`,
  // This finds the reports of all nodes. A list of some outcomes is merged from the few ranges that match.
  'create index reports_by_outcome on reports (operation, in_desired_state, had_errors, timestamp)',
];

/** Spans in milliseconds; 0 stands for all times together. db/report-counts.ts uses the same ones. */
const SPANS = [0, 60_000, 3_600_000];

/** The key of a report `row` in the counts of one span. */
const keyOf = (row: 'new' | 'old', span: number) =>
  `${span}, ${span === 0 ? 0 : `${row}.timestamp / ${span}`}, ${row}.operation, coalesce(${row}.in_desired_state, -1),
    ${row}.had_errors`;
const isCountOfOld = (span: number) =>
  `(span, period, operation, in_desired_state, had_errors) = (${keyOf('old', span)})`;

const COUNTS = [
  `create table report_counts (
    span integer not null,
    period integer not null,
    operation text not null,
    in_desired_state integer not null,
    had_errors integer not null,
    count integer not null,
    primary key (span, period, operation, in_desired_state, had_errors)) without rowid`,
  `create trigger report_counts_insert after insert on reports begin
    insert into report_counts (span, period, operation, in_desired_state, had_errors, count)
      values ${SPANS.map((span) => `(${keyOf('new', span)}, 1)`).join(', ')}
      on conflict do update set count = count + 1;
    end`,
  ...SPANS.map(
    (span) => `create trigger report_counts_delete_${span} after delete on reports begin
      update report_counts set count = count - 1 where ${isCountOfOld(span)};
      delete from report_counts where count = 0 and ${isCountOfOld(span)};
      end`,
  ),
  // An update would have to move a count from one row to another, and nothing needs that.
  `create trigger reports_stay before update on reports
    begin select raise(abort, 'reports are never changed'); end`,
];

export const reportsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...REPORTS, ...COUNTS]) await sql.raw(statement).execute(db);
  },
};
