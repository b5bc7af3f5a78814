/**
 * What lists of nodes are read from. A cell stands for all nodes with the same assignment, status and evidence, so totals
 * are sums of few counts, and an index gives the nodes of each cell by name. Nodes, tags and last calls have an index for
 * each order. Triggers keep all of it.
 */

import { type Kysely, type Migration, sql } from 'kysely';

/** What makes a cell. No column is null, because nulls are never equal in an index. */
const KEY = [
  'target_id',
  'is_composite',
  'major_version',
  'prerelease_channel',
  'version',
  'status',
  'lcm_status',
  'evidence',
  'has_called',
] as const;

type Columns = Partial<Record<(typeof KEY)[number], string>>;

const UNASSIGNED: Columns = {
  target_id: `''`,
  is_composite: '0',
  major_version: '-1',
  prerelease_channel: `''`,
  version: `''`,
};

/** The columns of an assignment as a cell has them. */
const assigned = (row: string): Columns => ({
  target_id: `coalesce(${row}.configuration_id, ${row}.composite_id, '')`,
  is_composite: `(${row}.composite_id is not null)`,
  major_version: `coalesce(${row}.major_version, -1)`,
  prerelease_channel: `coalesce(${row}.prerelease_channel, '')`,
  version: `coalesce(${row}.version, '')`,
});

const statuses = (row: string): Columns => ({ status: `${row}.status`, lcm_status: `${row}.lcm_status` });
const evidence = (row: string): Columns => ({ evidence: `coalesce(${row}.evidence, '')` });

const equal = (columns: Columns) => KEY.map((name) => `cell.${name} = ${columns[name]}`).join(' and ');
const list = (columns: Columns) => KEY.map((name) => columns[name]).join(', ');

/** Puts a node into the cell that differs from its own by these columns. Does nothing for a node that has gone. */
function move(node: string, changed: Columns): string {
  const own = `(select cell_id from nodes where id = ${node})`;
  const other = Object.fromEntries(KEY.map((name) => [name, changed[name] ?? `own.${name}`])) as Columns;
  return `update node_cells set count = count - 1 where id = ${own};
    insert into node_cells (${KEY.join(', ')}, count) select ${list(other)}, 1 from node_cells own where own.id = ${own}
      on conflict (${KEY.join(', ')}) do update set count = count + 1;
    update nodes set cell_id = (select cell.id from node_cells own cross join node_cells cell on ${equal(other)}
      where own.id = nodes.cell_id) where id = ${node};
    delete from node_cells where count = 0;`;
}

const trigger = (name: string, event: string, body: string) =>
  `create trigger ${name} after ${event} begin ${body} end`;

/** The cell of a node when the tables are filled. */
const FILLED = {
  ...assigned('a'),
  ...statuses('n'),
  ...evidence('r'),
  has_called: '(k.node_id is not null)',
} as Required<Columns>;

const NEW_CELL: Columns = { ...UNASSIGNED, ...statuses('new'), evidence: `''`, has_called: '0' };

const CELLS = [
  'alter table nodes add column number integer',
  'alter table nodes add column cell_id integer',
  'alter table nodes add column certificate_end bigint',
  `create table node_cells (
    id integer primary key,
    target_id text not null,
    is_composite integer not null,
    major_version integer not null,
    prerelease_channel text not null,
    version text not null,
    status text not null,
    lcm_status text not null,
    evidence text not null,
    has_called integer not null,
    count integer not null,
    unique (${KEY.join(', ')}))`,
  'create index node_cells_empty on node_cells (id) where count = 0',
  'create table node_numbers (id integer primary key check (id = 1), last integer not null)',
  'insert into node_numbers (id, last) select 1, coalesce(max(rowid), 0) from nodes',
  `create temp table node_places as
    select n.rowid as node, ${KEY.map((name) => `${FILLED[name]} as ${name}`).join(', ')}
    from nodes n left join assignments a on a.node_id = n.id left join node_running r on r.node_id = n.id
    left join node_check_ins k on k.node_id = n.id`,
  `insert into node_cells (${KEY.join(', ')}, count)
    select ${KEY.join(', ')}, count(*) from node_places group by ${KEY.join(', ')}`,
  `update nodes set number = nodes.rowid, cell_id = place.cell_id from (
      select p.node, cell.id as cell_id from node_places p cross join node_cells cell
      on ${KEY.map((name) => `cell.${name} = p.${name}`).join(' and ')}) place
    where nodes.rowid = place.node`,
  'drop table node_places',
  `update nodes set certificate_end = c.not_after from node_certificates c
    where c.node_id = nodes.id and c.state = 'current'`,
  'drop index nodes_by_status',
  'drop index nodes_by_lcm_status',
  'create index nodes_by_cell on nodes (cell_id, fqdn)',
  'create unique index nodes_by_number on nodes (number)',
  // All that most conditions need of nodes, by name, so that whoever goes along the names reads few pages.
  'create index nodes_in_lists on nodes (fqdn, cell_id, certificate_end, id)',
  'create index nodes_by_certificate on nodes (certificate_end, fqdn)',
  'create index nodes_by_creation on nodes (created_at, fqdn)',
  'create index nodes_by_interval on nodes (configuration_mode_interval_ms)',
  trigger(
    'node_cells_of_new_node',
    'insert on nodes',
    `update node_numbers set last = last + 1 where id = 1;
    insert into node_cells (${KEY.join(', ')}, count) values (${list(NEW_CELL)}, 1)
      on conflict (${KEY.join(', ')}) do update set count = count + 1;
    update nodes set number = (select last from node_numbers where id = 1),
      cell_id = (select cell.id from node_cells cell where ${equal(NEW_CELL)}) where id = new.id;`,
  ),
  trigger(
    'node_cells_of_status',
    `update of status, lcm_status on nodes when old.status <> new.status or old.lcm_status <> new.lcm_status`,
    move('new.id', statuses('new')),
  ),
  trigger(
    'node_cells_of_gone_node',
    'delete on nodes',
    `update node_cells set count = count - 1 where id = old.cell_id;
    delete from node_cells where count = 0;
    insert into changes (kind, key) values ('nodes', old.number);`,
  ),
  trigger('node_cells_of_assignment', 'insert on assignments', move('new.node_id', assigned('new'))),
  trigger('node_cells_of_other_assignment', 'update on assignments', move('new.node_id', assigned('new'))),
  trigger('node_cells_of_no_assignment', 'delete on assignments', move('old.node_id', UNASSIGNED)),
  trigger('node_cells_of_evidence', 'insert on node_running', move('new.node_id', evidence('new'))),
  trigger(
    'node_cells_of_other_evidence',
    'update of evidence on node_running when old.evidence is not new.evidence',
    move('new.node_id', evidence('new')),
  ),
  trigger('node_cells_of_no_evidence', 'delete on node_running', move('old.node_id', { evidence: `''` })),
];

/** The last call of a node has its name and interval beside it, so that one index gives the order and who is stale. */
const CALLS = [
  'alter table node_check_ins add column fqdn text',
  'alter table node_check_ins add column interval_ms bigint',
  `update node_check_ins set fqdn = n.fqdn, interval_ms = n.configuration_mode_interval_ms
    from nodes n where n.id = node_check_ins.node_id`,
  'create index node_check_ins_by_time on node_check_ins (last_check_in, fqdn, interval_ms)',
  trigger(
    'node_cells_of_first_call',
    'insert on node_check_ins',
    `update node_check_ins set (fqdn, interval_ms) =
        (select fqdn, configuration_mode_interval_ms from nodes where id = new.node_id) where node_id = new.node_id;
    ${move('new.node_id', { has_called: '1' })}`,
  ),
  trigger(
    'node_check_ins_interval',
    `update of configuration_mode_interval_ms on nodes
      when old.configuration_mode_interval_ms is not new.configuration_mode_interval_ms`,
    'update node_check_ins set interval_ms = new.configuration_mode_interval_ms where node_id = new.id;',
  ),
];

const copyEnd = (row: 'new' | 'old') =>
  `update nodes set certificate_end =
      (select not_after from node_certificates where node_id = ${row}.node_id and state = 'current')
    where id = ${row}.node_id;`;

/** The end of a node's certificate stands with the node. */
const CERTIFICATES = [
  trigger(
    'nodes_certificate_insert',
    `insert on node_certificates when new.state = 'current'`,
    copyEnd('new'),
  ),
  trigger('nodes_certificate_update', 'update on node_certificates', copyEnd('old') + copyEnd('new')),
  trigger(
    'nodes_certificate_delete',
    `delete on node_certificates when old.state = 'current'`,
    copyEnd('old'),
  ),
];

const count = (row: 'new' | 'old', by: 1 | -1) =>
  `insert into tag_counts (scope_value_id, count) values (${row}.scope_value_id, ${by})
    on conflict do update set count = count + ${by};`;

const noteCertificatesOf = (row: 'new' | 'old') =>
  `insert into changes (kind, key)
    select 'certificates', thumbprint from node_certificates where node_id = ${row}.node_id;`;

/** The name of the node stands with its tags. It is no change of the tag, so triggers of updates name their columns. */
const TAGS = [
  'alter table node_tags add column fqdn text',
  'drop trigger generation_node_tags_update',
  'drop trigger changes_node_tags_update',
  'update node_tags set fqdn = n.fqdn from nodes n where n.id = node_tags.node_id',
  'drop index node_tags_by_value',
  'create index node_tags_by_value on node_tags (scope_value_id, fqdn)',
  'create table tag_counts (scope_value_id text not null primary key, count integer not null) without rowid',
  'insert into tag_counts select scope_value_id, count(*) from node_tags group by scope_value_id',
  trigger(
    'generation_node_tags_update',
    'update of node_id, scope_type_id, scope_value_id on node_tags',
    'update generation set value = value + 1 where id = 1;',
  ),
  trigger(
    'changes_node_tags_update',
    'update of node_id, scope_type_id, scope_value_id on node_tags',
    noteCertificatesOf('old') + noteCertificatesOf('new'),
  ),
  trigger(
    'tag_counts_insert',
    'insert on node_tags',
    `update node_tags set fqdn = (select fqdn from nodes where id = new.node_id)
      where node_id = new.node_id and scope_type_id = new.scope_type_id;
    ${count('new', 1)}`,
  ),
  trigger('tag_counts_update', 'update of scope_value_id on node_tags', count('old', -1) + count('new', 1)),
  trigger('tag_counts_delete', 'delete on node_tags', count('old', -1)),
  trigger(
    'tag_counts_of_gone_value',
    'delete on scope_values',
    'delete from tag_counts where scope_value_id = old.id;',
  ),
];

export const nodeListsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...CELLS, ...CALLS, ...CERTIFICATES, ...TAGS])
      await sql.raw(statement).execute(db);
  },
};
