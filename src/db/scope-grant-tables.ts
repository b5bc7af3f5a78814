/**
 * Grants on the parameters of a scope, and the marks of scopes that are restricted. `schema.ts` explains the conventions. They
 * name scopes by ids, because another scope may get the name, and they stand beside `grants`: a release that does not know of
 * them would take a grant on one value for one on all of them.
 */

/** A scope of a configuration's parameters. */
export interface ScopeOfParameters {
  configuration_id: string;
  scope_type_id: string;
  /** The id of a value, or of a node for the type Node. Empty for all values of a type, and for Default. */
  scope_value_id: string;
}

export interface ScopeGrantsTable extends ScopeOfParameters {
  principal_type: 'User' | 'Group';
  principal_id: string;
  level: 'Read' | 'Modify' | 'Manage';
  granted_at: number;
  granted_by: string | null;
}

/** The mark stays when the value or the node goes, for what is kept of it. */
export interface RestrictedScopesTable extends ScopeOfParameters {
  /** The name of the node, for the type Node: files of a deleted node stay under it. */
  fqdn: string | null;
}

export interface ScopeGrantTables {
  scope_grants: ScopeGrantsTable;
  restricted_scopes: RestrictedScopesTable;
}

/** The statements that make the tables, the same on both engines but for the type of texts. */
export function scopeGrantStatements(text: string): readonly string[] {
  const scope = `configuration_id ${text} not null references configurations (id) on delete cascade,
      scope_type_id ${text} not null,
      scope_value_id ${text} not null`;
  return [
    `create table scope_grants (
      ${scope},
      principal_type ${text} not null check (principal_type in ('User', 'Group')),
      principal_id ${text} not null,
      level ${text} not null check (level in ('Read', 'Modify', 'Manage')),
      granted_at bigint not null,
      granted_by ${text},
      primary key (configuration_id, scope_type_id, scope_value_id, principal_type, principal_id))`,
    'create index scope_grants_by_principal on scope_grants (principal_type, principal_id)',
    'create index scope_grants_by_value on scope_grants (scope_value_id)',
    'create index scope_grants_by_type on scope_grants (scope_type_id)',
    `create table restricted_scopes (
      ${scope},
      fqdn ${text},
      primary key (configuration_id, scope_type_id, scope_value_id))`,
  ];
}

/** What goes with a row: the table that it is deleted from, the name of the trigger, and the column that names it. */
export const GOES_WITH = [
  ['users', 'scope_grants_of_user', "principal_type = 'User' and principal_id"],
  ['groups', 'scope_grants_of_group', "principal_type = 'Group' and principal_id"],
  ['scope_types', 'scope_grants_on_type', 'scope_type_id'],
  ['scope_values', 'scope_grants_on_value', 'scope_value_id'],
  ['nodes', 'scope_grants_on_node', 'scope_value_id'],
] as const;
