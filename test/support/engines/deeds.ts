/** Deeds in SQL that both engines take. They build on each other, in their order. */

import { scopeValueRow } from './rows.ts';

const T = 1_800_000_000_000;
const MINUTE = 60_000;

const node = (name: string) =>
  `insert into nodes (id, fqdn, status, lcm_status, created_at) values ('${name}', '${name}.example', 'Unknown', 'Unknown', ${T})`;

const certificate = (name: string, state: string, thumbprint = name.toUpperCase()) =>
  `insert into node_certificates (thumbprint, sha1_thumbprint, node_id, state, subject, not_before, not_after, created_at)
    values ('${thumbprint}', null, '${name}', '${state}', 'CN=${name}', 0, ${T + MINUTE}, ${T})`;

const assign = (name: string, target: 'configuration_id' | 'composite_id', id: string, more = '') =>
  `insert into assignments (node_id, ${target}, major_version, prerelease_channel, version, assigned_at)
    values ('${name}', '${id}', ${more || 'null, null, null'}, ${T})
    on conflict (node_id) do update set configuration_id = excluded.configuration_id, composite_id = excluded.composite_id,
      major_version = excluded.major_version, prerelease_channel = excluded.prerelease_channel,
      version = excluded.version, assigned_at = excluded.assigned_at`;

const call = (at: number, ...names: readonly string[]) =>
  `insert into node_check_ins (node_id, last_check_in)
    select id, ${at} from nodes where id in (${names.map((name) => `'${name}'`).join(', ')})
    on conflict (node_id) do update set last_check_in = excluded.last_check_in`;

/** Node, checksum, evidence, answered checksum. */
type Told = readonly [
  node: string,
  checksum: string | null,
  evidence: string | null,
  answered: string | null,
];

const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);

const run = (...told: readonly Told[]) =>
  `insert into node_running (node_id, checksum, evidence, since, answered_checksum)
    values ${told.map(([name, checksum, evidence, answered]) => `('${name}', ${text(checksum)}, ${text(evidence)}, ${checksum === null ? 'null' : T}, ${text(answered)})`).join(', ')}
    on conflict (node_id) do update set checksum = excluded.checksum, evidence = excluded.evidence,
      since = excluded.since, answered_checksum = excluded.answered_checksum`;

const PARTS = JSON.stringify({
  parts: [
    { configurationName: 'web', version: '1.0.0' },
    { configurationName: 'db', version: '2.0.0' },
  ],
});

const manifest = (checksum: string) =>
  `insert into manifests (checksum, configuration_name, is_composite, version, content)
    values ('${checksum}', 'farm', 1, '1.0.0', '${PARTS}') on conflict do nothing`;

const report = (id: string, name: string, at: number, outcome: string) =>
  `('${id}', '${name}', ${at}, 'Test', ${outcome}, '{}')`;

const reports = (...rows: readonly string[]) =>
  `insert into reports (id, node_id, timestamp, operation, in_desired_state, had_errors, result) values ${rows.join(', ')}`;

const checksums = (checksum: string, ...ids: readonly string[]) =>
  `insert into report_checksums (report_seq, checksum, source)
    select seq, '${checksum}', 'Declared' from reports where id in (${ids.map((id) => `'${id}'`).join(', ')})`;

const PEOPLE = {
  'two users': `insert into users (id, username, username_key, email, account_type, is_active, require_password_change,
      created_at, modified_at)
    values ('u1', 'Ann', 'ann', 'a', 'User', 1, 0, 1, 1), ('u2', 'Bob', 'bob', 'b', 'ServiceAccount', 1, 0, 1, 1)`,
  'a role, a group and their permissions': `insert into roles (id, name, name_key, is_system, created_at, modified_at)
      values ('r1', 'Role', 'role', 0, 1, 1);
    insert into groups (id, name, name_key, created_at, modified_at) values ('g1', 'Group', 'group', 1, 1);
    insert into role_permissions (role_id, permission) values ('r1', 'nodes.read'), ('r1', 'nodes.write')`,
  'a user with a role': `insert into user_roles (user_id, role_id) values ('u1', 'r1')`,
  'a group with a role and members': `insert into group_roles (group_id, role_id) values ('g1', 'r1');
    insert into group_members (group_id, user_id) values ('g1', 'u1'), ('g1', 'u2')`,
  'a mapped group': `insert into external_group_mappings (id, provider, external_group_id, group_id, created_at)
    values ('m1', 'saml', 'admins', 'g1', 1)`,
  'another e-mail address': `update users set email = 'other' where id = 'u1'`,
  'a user who may not sign in': `update users set is_active = 0 where id = 'u2'`,
  'a session and a token': `insert into sessions (token_hash, user_id, created_at, expires_at) values ('s1', 'u1', 1, 2);
    insert into access_tokens (id, user_id, name, prefix, token_hash, scopes, created_at)
      values ('t1', 'u1', 'mine', 'p', 'h1', '[]', 1), ('t2', 'u2', 'his', 'p', 'h2', '[]', 1)`,
  'a session that lives longer': `update sessions set expires_at = 3`,
  'a token that was used': `update access_tokens set last_used_at = 5 where id = 't1'`,
  'a token that is revoked': `update access_tokens set revoked_at = 5 where id = 't1'`,
  'the end of a session': `delete from sessions where token_hash = 's1'`,
  'attempts to sign in': `insert into login_attempts (address, window_start, attempts) values ('10.0.0.1', 1, 1)
    on conflict (address) do update set attempts = login_attempts.attempts + 1`,
  'a permission less': `delete from role_permissions where permission = 'nodes.write'`,
};

const REGISTRY = {
  'two configurations and a composite': `insert into configurations (id, name, name_key, use_server_managed_parameters,
      created_at, updated_at) values ('c1', 'web', 'web', 0, 1, 1), ('c2', 'db', 'db', 1, 1, 1);
    insert into composites (id, name, name_key, created_at, updated_at) values ('k1', 'all', 'all', 1, 1)`,
  'settings of one': `insert into configuration_settings (configuration_id, parameter_validation_mode) values ('c1', 'Warn')`,
  'a setting of the server': `insert into server_settings (name, value) values ('x', '1')
    on conflict (name) do update set value = excluded.value`,
  'other texts': `update configurations set description = 'new' where id = 'c1';
    update composites set entry_point = 'other.yaml'`,
  'grants to a user and a group': `insert into grants (resource_kind, resource_id, principal_type, principal_id, level,
      granted_at) values ('configuration', 'c1', 'User', 'u1', 'Read', 1), ('parameters', 'c2', 'Group', 'g1', 'Read', 1),
      ('composite', 'k1', 'User', 'u2', 'Manage', 1), ('configuration', 'c2', 'User', 'u2', 'Manage', 1)`,
  'another level': `update grants set level = 'Modify' where principal_id = 'u1'`,
  'parameters that were published': `insert into changes (kind, key) values ('parameters', 'web');
    update configurations set has_parameters = 1 where id = 'c1'`,
  'a repository that goes': `insert into repository_removals (kind, name) values ('parameters', 'old')`,
};

const NODES = {
  'a new node': node('n1'),
  'its certificate': certificate('n1', 'current'),
  'more nodes in one statement': `insert into nodes (id, fqdn, status, lcm_status, created_at)
    select 'n2', 'n2.example', 'Unknown', 'Idle', ${T} union all select 'n3', 'n3.example', 'Unknown', 'Unknown', ${T}
    union all select 'n4', 'n4.example', 'Unknown', 'Idle', ${T}`,
  'their certificates': `${certificate('n2', 'current')}; ${certificate('n3', 'current')}; ${certificate('n4', 'current')}`,
  'a certificate that two announce': `${certificate('n1', 'pending', 'NEXT')}; ${certificate('n2', 'pending', 'NEXT')}`,
  'an announcement that is taken back': `delete from node_certificates where thumbprint = 'NEXT' and node_id = 'n2'`,
  'a certificate that replaces another': `delete from node_certificates where node_id = 'n1';
    ${certificate('n1', 'current', 'NEXT')}`,
  'a certificate that ends later': `update node_certificates set not_after = not_after + 1 where node_id = 'n3'`,
  'other desired settings': `update nodes set desired_configuration_mode = 'Apply' where id = 'n1'`,
};

const ASSIGNMENTS = {
  'a configuration': assign('n1', 'configuration_id', 'c1'),
  'a composite': assign('n2', 'composite_id', 'k1', `2, 'beta', null`),
  'a pinned version': assign('n3', 'configuration_id', 'c1', `null, null, '1.0.0'`),
  'another configuration': assign('n1', 'configuration_id', 'c2'),
  'two that change at once': `update assignments set major_version = 3, version = null where configuration_id is not null`,
  'nothing any more': `delete from assignments where node_id = 'n3'`,
};

const SCOPES = {
  'a type with values': `insert into scope_types (id, name, name_key, precedence, is_system, is_enabled, value_mode, created_at,
      updated_at) values ('st', 'Site', 'site', 2, 0, 1, 'Restricted', 1, 1);
    ${scopeValueRow('st', 'Bonn', 'v1')}; ${scopeValueRow('st', 'Rome', 'v2')}`,
  'a description of both': `update scope_types set description = 'where' where id = 'st';
    update scope_values set description = 'where' where id = 'v1'`,
  'another precedence': `update scope_types set precedence = 5 where id = 'st'`,
  'another name of a value': `update scope_values set value = 'BONN' where id = 'v1'`,
  'tags of three nodes': `insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at)
    select id, 'st', 'v1', 1 from nodes where id in ('n1', 'n2', 'n3')`,
  'a tag that changes': `update node_tags set scope_value_id = 'v2' where node_id = 'n1'`,
  'no tag any more': `delete from node_tags where node_id = 'n2'`,
  'a value that goes': `delete from node_tags where scope_value_id = 'v2'; delete from scope_values where id = 'v2'`,
};

const CALLS = {
  'a first call': call(T, 'n1'),
  'first and later calls at once': call(T + 1, 'n1', 'n2', 'n3'),
  'later calls only': call(T + 2, 'n1', 'n3'),
  'another interval': `update nodes set configuration_mode_interval_ms = 900000 where id in ('n2', 'n4')`,
  'a first call with an interval': call(T + 3, 'n4'),
  'other statuses': `update nodes set status = 'Compliant' where id in ('n1', 'n2')`,
  'another status of the LCM': `update nodes set lcm_status = 'Testing' where id = 'n1'`,
  'an event': `insert into status_events (node_id, lcm_status, timestamp) values ('n1', 'Testing', ${T})`,
};

const RUNNING = {
  'nodes that are told a checksum': run(['n1', 'x', 'Told', 'x'], ['n2', 'x', 'Told', 'x']),
  'its manifest': manifest('x'),
  'stronger evidence': run(['n1', 'x', 'Declared', 'x']),
  'an answer alone': run(['n3', null, null, 'x']),
  'what contradicts the answer': run(['n1', 'y', 'Declared', 'x'], ['n3', 'y', 'Served', 'y']),
  'another manifest': manifest('y'),
  'what contradicts still': run(['n1', 'y', 'Served', 'x']),
  'the end of a manifest': run(['n2', 'y', 'Declared', 'y']),
  'an outcome': `insert into node_outcomes (node_id, checksum, had_errors, lcm_failed)
    values ('n1', 'y', 1, 0), ('n2', 'y', 0, 0)`,
  'a status since': `update node_outcomes set lcm_failed = 1 where node_id = 'n1'`,
  'a served bundle': `update manifests set bundle_digest = 'd', first_served_at = ${T} where checksum = 'y'`,
};

const REPORTS = {
  'reports of two nodes': reports(
    report('p1', 'n1', T, '1, 0'),
    report('p2', 'n1', T + MINUTE, '0, 0'),
    report('p3', 'n2', T + MINUTE, 'null, 1'),
    report('p4', 'n3', T + MINUTE, '0, 0'),
  ),
  'what they name': `${checksums('z', 'p1', 'p2')}; ${checksums('y', 'p3')}; ${manifest('z')}`,
  'some that go': `delete from reports where id in ('p1', 'p4')`,
  'the last that names a checksum': `delete from reports where id = 'p2'`,
  'entries of the audit trail': `insert into audit_entries (id, timestamp, actor_type, action, resource_type, resource_id)
    values ('a1', ${T}, 'User', 'node.deleted', 'Node', 'n1'), ('a2', ${T}, 'System', 'x', 'Configuration', 'c1')`,
  'a cleanup': `insert into retention_runs (id, started_at, version_type, is_scheduled, is_dry_run, deleted_count, kept_count,
      was_interrupted) values ('q1', ${T}, 'Report', 1, 0, 0, 0, 0);
    update retention_runs set completed_at = ${T} where id = 'q1'`,
  'a preview with its result': `insert into previews (id, user_id, maker, state, created_at, expires_at, changes, named, is_narrowed,
      nodes, changed, unchanged, unresolvable, not_visible)
      values ('w1', 'u1', 'm', 'Running', ${T}, ${T}, '[]', '{}', 0, 0, 0, 0, 0, 0);
    insert into preview_results (preview_id, position, contents, groups, nodes, details)
      values ('w1', 0, '[]', '', '', '')`,
};

const ENDS = {
  'a node with all that belongs to it': `delete from nodes where id = 'n1'`,
  'several nodes at once': `insert into nodes (id, fqdn, status, lcm_status, created_at)
      values ('n5', 'n5.example', 'Unknown', 'Idle', ${T}); ${call(T, 'n5')};
    delete from nodes where id in ('n2', 'n4')`,
  'a configuration': `delete from assignments where configuration_id = 'c2'; delete from configurations where id = 'c2'`,
  'a composite': `delete from assignments where composite_id = 'k1'; delete from composites where id = 'k1'`,
  'a scope type with its values': `delete from node_tags where scope_type_id = 'st'; delete from scope_types where id = 'st'`,
  'a user with all that belongs to her': `insert into sessions (token_hash, user_id, created_at, expires_at)
      values ('s2', 'u1', 1, 2); delete from users where id = 'u1'`,
  'a role and a group': `insert into grants (resource_kind, resource_id, principal_type, principal_id, level, granted_at)
      values ('configuration', 'c1', 'Group', 'g1', 'Read', 1); delete from roles where id = 'r1';
    delete from groups where id = 'g1'`,
  'the last evidence': 'delete from node_running',
  'what is left': `delete from reports; delete from preview_results; delete from previews; delete from audit_entries`,
};

export const DEEDS: Record<string, Record<string, string>> = {
  people: PEOPLE,
  'the registry': REGISTRY,
  nodes: NODES,
  assignments: ASSIGNMENTS,
  'scopes and tags': SCOPES,
  calls: CALLS,
  'what nodes run': RUNNING,
  'reports and other records': REPORTS,
  'what ends': ENDS,
};
