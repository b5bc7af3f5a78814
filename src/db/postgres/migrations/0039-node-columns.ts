/**
 * Lists of nodes are read from columns of the nodes. No trigger keeps counts of nodes any more: they are counted when they are
 * asked for.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { assignedAs } from '../../node-tables.ts';
import { CELLS_KEY } from '../advisory-keys.ts';
import { TEXT } from './baseline/columns.ts';
import { afterEach } from './baseline/trigger.ts';

/** Each is the function of a trigger, which goes with it. */
const GONE = [
  ...['new_node', 'status', 'gone_node', 'assignment', 'other_assignment', 'no_assignment'].map(
    (name) => `node_cells_of_${name}`,
  ),
  ...['evidence', 'other_evidence', 'no_evidence', 'first_call'].map((name) => `node_cells_of_${name}`),
  ...['evidence_counts', 'tag_counts'].flatMap((counts) =>
    ['insert', 'update', 'delete'].map((event) => `${counts}_${event}`),
  ),
  ...['tag_counts_of_gone_value', 'node_counts_insert', 'node_counts_delete'],
];

const DROPS = [
  ...GONE.map((name) => `drop function ${name}() cascade`),
  // The indexes of the columns go with them.
  'alter table nodes drop column cell_id',
  'alter table node_check_ins drop column fqdn, drop column interval_ms',
  ...['nodes_by_certificate', 'nodes_by_creation', 'nodes_by_interval', 'node_tags_by_type'].map(
    (name) => `drop index ${name}`,
  ),
  'drop table node_cells, node_counts, evidence_counts, tag_counts',
];

const FILLED = [
  `alter table nodes add column assigned_id ${TEXT}, add column assigned_as ${TEXT}, add column evidence ${TEXT}`,
  'alter table node_check_ins add column number bigint',
  `update nodes set assigned_id = coalesce(a.configuration_id, a.composite_id), assigned_as = ${assignedAs('a')}
    from assignments a where a.node_id = nodes.id`,
  'update nodes set evidence = r.evidence from node_running r where r.node_id = nodes.id',
  'update node_check_ins set number = n.number from nodes n where n.id = node_check_ins.node_id',
  'create index nodes_by_assignment on nodes (assigned_id, assigned_as, status)',
  'create index nodes_by_status on nodes (status, lcm_status)',
  'create index node_tags_by_type on node_tags (scope_type_id, fqdn)',
];

/** Sets columns of the nodes that differ. @param rows gives the id of each node, with the values */
const setColumns = (columns: readonly string[], rows: string) => {
  const differs = columns.map((name) => `nodes.${name} is distinct from wish.${name}`).join(' or ');
  const from = `(${rows}) as wish join nodes as node on node.id = wish.node_id`;
  return `if exists (select from ${from} where ${differs.replaceAll('nodes.', 'node.')}) then
      perform pg_advisory_xact_lock(${CELLS_KEY});
      update nodes set ${columns.map((name) => `${name} = wish.${name}`).join(', ')}
        from (${rows}) as wish where nodes.id = wish.node_id and (${differs});
    end if;`;
};

const ASSIGNED = ['assigned_id', 'assigned_as'];
const assigned = `select node_id, coalesce(configuration_id, composite_id) as assigned_id, ${assignedAs('added')} as assigned_as
      from added`;

const TRIGGERS = [
  ...afterEach(
    'insert',
    'nodes',
    'nodes_number',
    `select count(*) into nodes_added from added;
      update node_numbers set last = last + nodes_added where id = 1 returning last - nodes_added into before;
      update nodes set number = before + place
        from (select id as node, row_number() over () as place from added) as placed where id = node;`,
    { declare: 'before bigint; nodes_added bigint;' },
  ),
  ...afterEach('insert', 'assignments', 'nodes_assignment_insert', setColumns(ASSIGNED, assigned)),
  ...afterEach('update', 'assignments', 'nodes_assignment_update', setColumns(ASSIGNED, assigned)),
  ...afterEach(
    'delete',
    'assignments',
    'nodes_assignment_delete',
    setColumns(ASSIGNED, 'select node_id, null::text as assigned_id, null::text as assigned_as from gone'),
  ),
  ...(['insert', 'update'] as const).flatMap((event) =>
    afterEach(
      event,
      'node_running',
      `nodes_evidence_${event}`,
      setColumns(['evidence'], 'select node_id, evidence from added'),
    ),
  ),
  ...afterEach(
    'delete',
    'node_running',
    'nodes_evidence_delete',
    setColumns(['evidence'], 'select node_id, null::text as evidence from gone'),
  ),
  ...afterEach(
    'insert',
    'node_check_ins',
    'node_check_ins_number',
    `update node_check_ins as call set number = node.number
        from added join nodes node on node.id = added.node_id where call.node_id = added.node_id;`,
  ),
];

export const nodeColumnsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...DROPS, ...FILLED, ...TRIGGERS]) await sql.raw(statement).execute(db);
  },
};
