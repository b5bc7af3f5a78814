/**
 * Which cell of `node_cells` counts each node, and what nodes, tags and last calls have beside them for the orders of
 * lists. Only what differs is written.
 */

import { CELLS_KEY } from '../../advisory-keys.ts';
import { COUNT_STATUSES } from './count-triggers.ts';
import { CELL_KEY } from './node-tables.ts';
import { afterEach } from './trigger.ts';

type Columns = Partial<Record<(typeof CELL_KEY)[number], string>>;

const UNASSIGNED: Columns = {
  target_id: `''`,
  is_composite: '0',
  major_version: '-1',
  prerelease_channel: `''`,
  version: `''`,
};

/** The columns of an assignment as a cell has them. */
const ASSIGNED: Columns = {
  target_id: `coalesce(wish.configuration_id, wish.composite_id, '')`,
  is_composite: '(wish.composite_id is not null)::integer',
  major_version: 'coalesce(wish.major_version, -1)',
  prerelease_channel: `coalesce(wish.prerelease_channel, '')`,
  version: `coalesce(wish.version, '')`,
};

const STATUSES: Columns = { status: 'wish.status', lcm_status: 'wish.lcm_status' };

const KEY = CELL_KEY.join(', ');
const allOf = (table: string) => CELL_KEY.map((name) => `${table}.${name}`).join(', ');
const SAME_CELL = CELL_KEY.map((name) => `cell.${name} = moved.${name}`).join(' and ');

/**
 * Puts nodes into the cells that differ from their own by these columns. A node that has gone is left out.
 * @param rows is a table with the id of a node in a column `node`
 */
function move(rows: string, changed: Columns): string {
  const names = Object.keys(changed) as (keyof Columns)[];
  const isOther = names.map((name) => `own.${name} <> ${changed[name]}`).join(' or ');
  const moved = `select node.id, own.id as own, ${CELL_KEY.map((name) => `${changed[name] ?? `own.${name}`} as ${name}`).join(', ')}
        from ${rows} as wish join nodes node on node.id = wish.node join node_cells own on own.id = node.cell_id
        where ${isOther}`;
  return `if exists (${moved}) then
      perform pg_advisory_xact_lock(${CELLS_KEY});
      insert into node_cells (${KEY}, count) select distinct ${allOf('moved')}, 0 from (${moved}) as moved
        on conflict (${KEY}) do nothing;
      with moved as materialized (
          select moved.id, moved.own, cell.id as other from (${moved}) as moved join node_cells cell on ${SAME_CELL}),
        placed as (update nodes set cell_id = moved.other from moved where nodes.id = moved.id),
        changes as (
          select cell, sum(by) as by from (
            select own as cell, -1 as by from moved union all select other, 1 from moved) as changes group by cell),
        counts as (
          update node_cells set count = count + by from changes where id = cell returning id, count)
      select array_agg(id) filter (where count = 0) into emptied from counts;
      delete from node_cells where id = any(emptied);
    end if;`;
}

const MOVES = { declare: 'emptied bigint[];' };

const withNode = (table: string) => `(select *, node_id as node from ${table})`;

const moves = (event: 'insert' | 'update' | 'delete', table: string, name: string, changed: Columns) =>
  afterEach(event, table, name, move(withNode(event === 'delete' ? 'gone' : 'added'), changed), MOVES);

const NEW_CELL: Columns = {
  ...UNASSIGNED,
  status: 'status',
  lcm_status: 'lcm_status',
  evidence: `''`,
  has_called: '0',
};

const NODES = [
  ...afterEach(
    'insert',
    'nodes',
    'node_cells_of_new_node',
    `insert into node_cells (${KEY}, count)
        select ${CELL_KEY.map((name) => NEW_CELL[name]).join(', ')}, count(*) from added group by status, lcm_status
        on conflict (${KEY}) do update set count = node_cells.count + excluded.count;
      select count(*) into nodes_added from added;
      update node_numbers set last = last + nodes_added where id = 1 returning last - nodes_added into before;
      update nodes set number = before + place, cell_id = cell.id
        from (select id as node, row_number() over () as place, ${CELL_KEY.map((name) => `${NEW_CELL[name]} as ${name}`).join(', ')}
            from added) as moved
          join node_cells cell on ${SAME_CELL}
        where nodes.id = moved.node;`,
    { declare: 'before bigint; nodes_added bigint;' },
  ),
  ...afterEach(
    'update',
    'nodes',
    'node_cells_of_status',
    `${COUNT_STATUSES}
      ${move('(select *, id as node from added)', STATUSES)}
      update node_check_ins set interval_ms = added.configuration_mode_interval_ms from added
        where node_id = added.id and interval_ms is distinct from added.configuration_mode_interval_ms;`,
    // Triggers that place a node elsewhere change none of this.
    { ...MOVES, when: 'pg_trigger_depth() = 0' },
  ),
  ...afterEach(
    'delete',
    'nodes',
    'node_cells_of_gone_node',
    `with counts as (
          update node_cells set count = count - nodes
            from (select cell_id, count(*) as nodes from gone group by cell_id) as less
          where id = cell_id returning id, count)
        select array_agg(id) filter (where count = 0) into emptied from counts;
      delete from node_cells where id = any(emptied);`,
    MOVES,
  ),
];

/** The cell is changed first. That waits for whoever is changing the node, and then the node is read as it is. */
const FIRST_CALL = `${move(withNode('added'), { has_called: '1' })}
      update node_check_ins call set fqdn = node.fqdn, interval_ms = node.configuration_mode_interval_ms
        from added join nodes node on node.id = added.node_id where call.node_id = added.node_id;`;

const BESIDE = [
  ...afterEach('insert', 'node_check_ins', 'node_cells_of_first_call', FIRST_CALL, MOVES),
  `create function node_tags_fqdn() returns trigger language plpgsql as $$
    begin
      select fqdn into new.fqdn from nodes where id = new.node_id;
      return new;
    end $$`,
  'create trigger node_tags_fqdn before insert on node_tags for each row execute function node_tags_fqdn()',
];

const copyEnd = (rows: string) =>
  `update nodes set certificate_end = current_end from (
        select id as node, (select not_after from node_certificates where node_id = id and state = 'current') as current_end
        from nodes where id in (${rows})) as ends
      where id = node and certificate_end is distinct from current_end;`;

/** The end of a node's certificate stands with the node. */
const CERTIFICATES = [
  ...afterEach(
    'insert',
    'node_certificates',
    'nodes_certificate_insert',
    copyEnd('select node_id from added'),
  ),
  ...afterEach(
    'update',
    'node_certificates',
    'nodes_certificate_update',
    copyEnd('select node_id from gone union all select node_id from added'),
  ),
  ...afterEach(
    'delete',
    'node_certificates',
    'nodes_certificate_delete',
    copyEnd('select node_id from gone'),
  ),
];

export const CELL_TRIGGERS: readonly string[] = [
  ...NODES,
  ...moves('insert', 'assignments', 'node_cells_of_assignment', ASSIGNED),
  ...moves('update', 'assignments', 'node_cells_of_other_assignment', ASSIGNED),
  ...moves('delete', 'assignments', 'node_cells_of_no_assignment', UNASSIGNED),
  ...moves('insert', 'node_running', 'node_cells_of_evidence', { evidence: `coalesce(wish.evidence, '')` }),
  ...moves('update', 'node_running', 'node_cells_of_other_evidence', {
    evidence: `coalesce(wish.evidence, '')`,
  }),
  ...moves('delete', 'node_running', 'node_cells_of_no_evidence', { evidence: `''` }),
  ...BESIDE,
  ...CERTIFICATES,
];
