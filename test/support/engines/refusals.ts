/** Statements that both engines refuse: by checks, uniqueness, references and triggers. */

const T = 1_800_000_000_000;

const node = (id: string, fqdn: string) =>
  `insert into nodes (id, fqdn, status, lcm_status, created_at) values (${id}, ${fqdn}, 'Unknown', 'Unknown', 1)`;

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
  node(`'n1'`, `'n1.example'`),
  node(`'n2'`, `'n2.example'`),
  `insert into configurations (id, name, name_key, use_server_managed_parameters, created_at, updated_at)
    values ('c1', 'web', 'web', 0, 1, 1)`,
  `insert into composites (id, name, name_key, created_at, updated_at) values ('k1', 'all', 'all', 1, 1)`,
  assignment(`'n1', 'c1', null, null, null, null`),
  `insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after, created_at)
    values ('A', 'n1', 'current', '', 0, 1, 1)`,
  report('Test', 'n1', 'p1'),
  `insert into audit_entries (id, timestamp, actor_type, action, resource_type) values ('a1', 1, 'User', 'x', 'Node')`,
  `insert into scope_values (id, scope_type_id, value, value_key, created_at, updated_at)
    values ('v1', '00000000-0000-0000-0000-000000000002', 'a', 'a', 1, 1)`,
  `insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at)
    values ('n1', '00000000-0000-0000-0000-000000000002', 'v1', 1)`,
  `insert into previews (id, user_id, maker, state, created_at, expires_at, changes, named, is_narrowed, nodes, changed,
    unchanged, unresolvable, not_visible) values ('w1', 'u', 'm', 'Done', 1, 1, '', '', 0, 0, 0, 0, 0, 0)`,
  `insert into preview_pieces (preview_id, kind, position, count, changed, unresolvable, content)
    values ('w1', 'nodes', 0, 0, 0, 0, '')`,
];

export const REFUSED: Record<string, string> = {
  'a second node of a name': node(`'n3'`, `'n1.example'`),
  'a node without a name': node(`'n3'`, 'null'),
  'a second configuration of a name': `insert into configurations (id, name, name_key, use_server_managed_parameters,
    created_at, updated_at) values ('c2', 'WEB', 'web', 0, 1, 1)`,
  'a version and a major version': assignment(`'n2', 'c1', null, 1, null, '1.0.0'`),
  'a version and a channel': assignment(`'n2', 'c1', null, null, 'beta', '1.0.0'`),
  'two targets': assignment(`'n2', 'c1', 'k1', null, null, null`),
  'no target': assignment(`'n2', null, null, null, null, null`),
  'an unknown target': assignment(`'n2', 'gone', null, null, null, null`),
  'a second assignment': assignment(`'n1', 'c1', null, null, null, null`),
  'the end of a configuration that is assigned': `delete from configurations where id = 'c1'`,
  'a certificate of two nodes': `insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after,
    created_at) values ('A', 'n2', 'current', '', 0, 1, 1)`,
  'two current certificates': `insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after,
    created_at) values ('B', 'n1', 'current', '', 0, 1, 1)`,
  'an unknown state of a certificate': `insert into node_certificates (thumbprint, node_id, state, subject, not_before,
    not_after, created_at) values ('B', 'n2', 'old', '', 0, 1, 1)`,
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
  'a second tag of a type': `insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at)
    values ('n1', '00000000-0000-0000-0000-000000000002', 'v1', 1)`,
  'the end of a value that a node has': `delete from scope_values where id = 'v1'`,
  'the end of a type that a node has': `delete from scope_types where id = '00000000-0000-0000-0000-000000000002'`,
  'a second value of a key': `insert into scope_values (id, scope_type_id, value, value_key, created_at, updated_at)
    values ('v2', '00000000-0000-0000-0000-000000000002', 'A', 'a', 1, 1)`,
  'the end of a preview that has pieces': `delete from previews where id = 'w1'`,
  'a second row of the generation': 'insert into generation (id, value) values (2, 1)',
  'an unknown level': `insert into grants (resource_kind, resource_id, principal_type, principal_id, level, granted_at)
    values ('configuration', 'c1', 'User', 'u1', 'All', 1)`,
  'a session of no user': `insert into sessions (token_hash, user_id, created_at, expires_at) values ('s', 'gone', 1, 1)`,
};
