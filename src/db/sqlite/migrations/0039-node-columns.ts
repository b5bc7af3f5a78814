/**
 * Lists of nodes are read from columns of the nodes, which one index has side by side. No trigger keeps counts of nodes any
 * more: they are counted when they are asked for, beside the event loop.
 */

import { type Kysely, type Migration, sql } from 'kysely';
import { assignedAs } from '../../node-tables.ts';

const trigger = (name: string, event: string, body: string) =>
  `create trigger ${name} after ${event} begin ${body}; end`;

const GONE = {
  trigger: [
    ...['new_node', 'status', 'gone_node', 'assignment', 'other_assignment', 'no_assignment'],
    ...['evidence', 'other_evidence', 'no_evidence', 'first_call'],
  ].map((name) => `node_cells_of_${name}`),
  table: ['node_cells', 'node_counts', 'evidence_counts', 'tag_counts'],
  index: [
    'nodes_by_cell',
    'nodes_in_lists',
    'nodes_by_certificate',
    'nodes_by_creation',
    'nodes_by_interval',
  ],
};

const COUNTS = ['node_counts', 'evidence_counts', 'tag_counts'].flatMap((counts) =>
  ['insert', 'update', 'delete'].map((event) => `${counts}_${event}`),
);

const DROPS = [
  ...[...GONE.trigger, ...COUNTS, 'tag_counts_of_gone_value', 'node_check_ins_interval'].map(
    (name) => `drop trigger ${name}`,
  ),
  ...GONE.index.map((name) => `drop index ${name}`),
  ...['node_check_ins_by_time', 'node_tags_by_type'].map((name) => `drop index ${name}`),
  ...GONE.table.map((name) => `drop table ${name}`),
  'alter table nodes drop column cell_id',
  'alter table node_check_ins drop column fqdn',
  'alter table node_check_ins drop column interval_ms',
];

const FILLED = [
  'alter table nodes add column assigned_id text',
  'alter table nodes add column assigned_as text',
  'alter table nodes add column evidence text',
  'alter table node_check_ins add column number integer',
  `update nodes set assigned_id = coalesce(a.configuration_id, a.composite_id), assigned_as = ${assignedAs('a')}
    from assignments a where a.node_id = nodes.id`,
  'update nodes set evidence = r.evidence from node_running r where r.node_id = nodes.id',
  'update node_check_ins set number = n.number from nodes n where n.id = node_check_ins.node_id',
];

/** All that lists ask of nodes, by name, so that whoever goes along the names reads few pages. */
const INDEXES = [
  `create index nodes_in_lists on nodes (fqdn, status, lcm_status, assigned_id, assigned_as, evidence, certificate_end,
    is_awaiting, registration_key_id, configuration_mode_interval_ms, created_at, number, id)`,
  'create index nodes_by_assignment on nodes (assigned_id, assigned_as, status)',
  'create index nodes_by_status on nodes (status, lcm_status)',
  'create index node_check_ins_by_number on node_check_ins (number, last_check_in)',
  'create index node_tags_by_type on node_tags (scope_type_id, fqdn)',
];

const assign = `update nodes set assigned_id = coalesce(new.configuration_id, new.composite_id), assigned_as = ${assignedAs('new')}
    where id = new.node_id`;

const TRIGGERS = [
  trigger(
    'nodes_number',
    'insert on nodes',
    `update node_numbers set last = last + 1 where id = 1;
    update nodes set number = (select last from node_numbers where id = 1) where id = new.id`,
  ),
  trigger('nodes_gone', 'delete on nodes', `insert into changes (kind, key) values ('nodes', old.number)`),
  trigger('nodes_assignment_insert', 'insert on assignments', assign),
  trigger('nodes_assignment_update', 'update on assignments', assign),
  trigger(
    'nodes_assignment_delete',
    'delete on assignments',
    'update nodes set assigned_id = null, assigned_as = null where id = old.node_id',
  ),
  trigger(
    'nodes_evidence_insert',
    'insert on node_running when new.evidence is not null',
    'update nodes set evidence = new.evidence where id = new.node_id',
  ),
  trigger(
    'nodes_evidence_update',
    'update of evidence on node_running when old.evidence is not new.evidence',
    'update nodes set evidence = new.evidence where id = new.node_id',
  ),
  trigger(
    'nodes_evidence_delete',
    'delete on node_running when old.evidence is not null',
    'update nodes set evidence = null where id = old.node_id',
  ),
  trigger(
    'node_check_ins_number',
    'insert on node_check_ins',
    'update node_check_ins set number = (select number from nodes where id = new.node_id) where node_id = new.node_id',
  ),
  trigger(
    'node_tags_fqdn',
    'insert on node_tags',
    `update node_tags set fqdn = (select fqdn from nodes where id = new.node_id)
      where node_id = new.node_id and scope_type_id = new.scope_type_id`,
  ),
];

export const nodeColumnsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...DROPS, ...FILLED, ...INDEXES, ...TRIGGERS])
      await sql.raw(statement).execute(db);
  },
};
