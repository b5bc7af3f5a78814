/** Statements that both engines refuse: by checks, uniqueness, references and triggers. */

import { certificateRow, configurationRow, nodeRows, scopeValueRow, tagRow } from './rows.ts';

const T = 1_800_000_000_000;

/** The built-in scope type of each node's own name. */
const TYPE = '00000000-0000-0000-0000-000000000002';

const assignment = (values: string) =>
  `insert into assignments (node_id, configuration_id, composite_id, major_version, prerelease_channel, version, assigned_at)
    values (${values}, 1)`;

const running = (values: string) =>
  `insert into node_running (node_id, checksum, evidence, since) values (${values})`;

const report = (operation: string, nodeId: string, id = 'new') =>
  `insert into reports (id, node_id, timestamp, operation, had_errors, result)
    values ('${id}', '${nodeId}', ${T}, '${operation}', 0, '{}')`;

/** What the refusals are about, on both engines. */
export const BEFORE_REFUSALS: readonly string[] = [
  nodeRows(['n1', 'n1.example'], ['n2', 'n2.example']),
  configurationRow('c1', 'web'),
  `insert into composites (id, name, name_key, created_at, updated_at) values ('k1', 'all', 'all', 1, 1)`,
  assignment(`'n1', 'c1', null, null, null, null`),
  certificateRow('A', 'n1'),
  report('Test', 'n1', 'p1'),
  `insert into audit_entries (id, timestamp, actor_type, action, resource_type) values ('a1', 1, 'User', 'x', 'Node')`,
  scopeValueRow(TYPE, 'a', 'v1'),
  tagRow('n1', TYPE, 'v1'),
  `insert into previews (id, user_id, maker, state, created_at, expires_at, changes, named, is_narrowed, nodes, changed,
    unchanged, unresolvable, not_visible) values ('w1', 'u', 'm', 'Done', 1, 1, '', '', 0, 0, 0, 0, 0, 0)`,
  `insert into preview_results (preview_id, position, contents, groups, nodes, details)
      values ('w1', 0, '[]', '', '', '')`,
];

export const REFUSED: Record<string, string> = {
  'a second node of a name': nodeRows(['n3', 'n1.example']),
  'a node without a name': nodeRows(['n3', 'n3.example']).replace(`'n3.example'`, 'null'),
  'a second configuration of a name': configurationRow('c2', 'WEB'),
  'a version and a major version': assignment(`'n2', 'c1', null, 1, null, '1.0.0'`),
  'a version and a channel': assignment(`'n2', 'c1', null, null, 'beta', '1.0.0'`),
  'two targets': assignment(`'n2', 'c1', 'k1', null, null, null`),
  'no target': assignment(`'n2', null, null, null, null, null`),
  'an unknown target': assignment(`'n2', 'gone', null, null, null, null`),
  'a second assignment': assignment(`'n1', 'c1', null, null, null, null`),
  'the end of a configuration that is assigned': `delete from configurations where id = 'c1'`,
  'a certificate of two nodes': certificateRow('A', 'n2'),
  'two current certificates': certificateRow('B', 'n1'),
  'an unknown state of a certificate': certificateRow('B', 'n2', 'old'),
  'an unknown operation': report('Look', 'n1'),
  'a report of no node': report('Test', 'gone'),
  'a second report of an id': report('Test', 'n1', 'p1'),
  'another outcome of a report': 'update reports set had_errors = 1',
  'another action of an audit entry': `update audit_entries set action = 'y'`,
  'an unknown actor': `insert into audit_entries (id, timestamp, actor_type, action, resource_type)
    values ('a2', 1, 'Ghost', 'x', 'Node')`,
  'a checksum without evidence': running(`'n1', 'x', null, 1`),
  'a checksum without a time': running(`'n1', 'x', 'Told', null`),
  'unknown evidence': running(`'n1', 'x', 'Guessed', 1`),
  'evidence of no node': running(`'gone', 'x', 'Told', 1`),
  'a call of no node': `insert into node_check_ins (node_id, last_check_in) values ('gone', 1)`,
  'an event of nothing': `insert into status_events (node_id, timestamp) values ('n1', 1)`,
  'an event of two': `insert into status_events (node_id, status, lcm_status, timestamp) values ('n1', 'a', 'b', 1)`,
  'a second tag of a type': tagRow('n1', TYPE, 'v1'),
  'the end of a value that a node has': `delete from scope_values where id = 'v1'`,
  'the end of a type that a node has': `delete from scope_types where id = '${TYPE}'`,
  'a second value of a key': scopeValueRow(TYPE, 'A', 'v2'),
  'the end of a preview that has pieces': `delete from previews where id = 'w1'`,
  'a second row of the generation': 'insert into generation (id, value) values (2, 1)',
  'an unknown level': `insert into grants (resource_kind, resource_id, principal_type, principal_id, level, granted_at)
    values ('configuration', 'c1', 'User', 'u1', 'All', 1)`,
  'a session of no user': `insert into sessions (token_hash, user_id, created_at, expires_at) values ('s', 'gone', 1, 1)`,
};
