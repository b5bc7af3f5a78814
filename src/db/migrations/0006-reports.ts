/** Reports, and how many there are of each outcome, so that no list has to count a million rows. */

import { type Kysely, type Migration, sql } from 'kysely';

const REPORTS = [
  // `seq` is the order of writing: two reports may share a millisecond. The result stands last, so that a list that
  // does not show it does not read it either.
  `create table reports (
    seq integer primary key,
    id text not null unique,
    node_id text not null references nodes (id) on delete cascade,
    timestamp bigint not null,
    operation text not null check (operation in ('Get', 'Set', 'Test', 'Export')),
    in_desired_state integer,
    had_errors integer not null,
    result text not null)`,
  // A node's reports, newest first, under any filter; with all in it that a list is filtered and ordered by.
  `create index reports_by_node on reports
    (node_id, timestamp, seq, operation, in_desired_state, had_errors)`,
  // Everybody's: a list of any outcomes is merged from the few ranges of this index that match.
  'create index reports_by_outcome on reports (operation, in_desired_state, had_errors, timestamp)',
];

/** Milliseconds; 0 stands for all times together. The lists count by the same ones, REPORT_SPANS. */
const SPANS = [0, 60_000, 3_600_000];

/** Of a report `row` in the counts of one span. */
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
  // They would have to move a count from one row to another; nothing needs that.
  `create trigger reports_stay before update on reports
    begin select raise(abort, 'reports are never changed'); end`,
];

export const reportsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...REPORTS, ...COUNTS]) await sql.raw(statement).execute(db);
  },
};
