/** Indexes and counts of nodes by status, so that no list by status has to scan the whole fleet. */

import { type Kysely, type Migration, sql } from 'kysely';

const changeCount = (row: 'new' | 'old', by: 1 | -1) =>
  `insert into node_counts (status, lcm_status, count) values (${row}.status, ${row}.lcm_status, ${by})
    on conflict do update set count = count + ${by};`;

const STATEMENTS = [
  'create index nodes_by_status on nodes (status, fqdn)',
  'create index nodes_by_lcm_status on nodes (lcm_status, fqdn)',
  `create table node_counts (
    status text not null,
    lcm_status text not null,
    count integer not null,
    primary key (status, lcm_status)) without rowid`,
  'insert into node_counts select status, lcm_status, count(*) from nodes group by status, lcm_status',
  `create trigger node_counts_insert after insert on nodes begin ${changeCount('new', 1)} end`,
  `create trigger node_counts_delete after delete on nodes begin ${changeCount('old', -1)} end`,
  `create trigger node_counts_update after update of status, lcm_status on nodes
    when old.status <> new.status or old.lcm_status <> new.lcm_status
    begin ${changeCount('old', -1)} ${changeCount('new', 1)} end`,
];

export const nodeCountsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
