/** Statements that both engines take, for rows of which a test needs only what it names. */

/** @returns a statement for nodes, each with its id and its name */
export function nodeRows(...nodes: [id: string, fqdn: string][]): string {
  const rows = nodes.map(([id, fqdn]) => `('${id}', '${fqdn}', 'Unknown', 'Unknown', 1)`);
  return `insert into nodes (id, fqdn, status, lcm_status, created_at) values ${rows.join(', ')}`;
}

export function certificateRow(thumbprint: string, nodeId: string, state = 'current', notAfter = 9): string {
  return `insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after, created_at)
    values ('${thumbprint}', '${nodeId}', '${state}', 'CN=${nodeId}', 0, ${notAfter}, 1)`;
}

export function configurationRow(id: string, name: string): string {
  return `insert into configurations (id, name, name_key, use_server_managed_parameters, created_at, updated_at)
    values ('${id}', '${name}', '${name.toLowerCase()}', 0, 1, 1)`;
}

/** A scope type, whose id is its name. */
export function scopeTypeRow(name: string, precedence: number, isEnabled = 1): string {
  return `insert into scope_types
    (id, name, name_key, precedence, is_system, is_enabled, value_mode, created_at, updated_at)
    values ('${name}', '${name}', '${name.toLowerCase()}', ${precedence}, 0, ${isEnabled}, 'Unrestricted', 1, 1)`;
}

/** A value of a scope type, whose id is the value unless it says so. */
export function scopeValueRow(typeId: string, value: string, id = value): string {
  return `insert into scope_values (id, scope_type_id, value, value_key, created_at, updated_at)
    values ('${id}', '${typeId}', '${value}', '${value.toLowerCase()}', 1, 1)`;
}

export function tagRow(nodeId: string, typeId: string, valueId: string): string {
  return `insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at)
    values ('${nodeId}', '${typeId}', '${valueId}', 1)`;
}
