/** Row types of protections, and since which change set somebody is in a group. `schema.ts` explains the conventions. */

/** One row for each thing that has a protection; one of the first three columns names the thing. */
export interface ProtectionsTable {
  configuration_id: string | null;
  composite_id: string | null;
  scope_value_id: string | null;
  approvals: number;
  group_id: string | null;
  by_change_set_only: number;
}

export interface ProtectionTables {
  protections: ProtectionsTable;
}

/** The tables whose rows make a membership. Each row says which change set was the last when it was made. */
const MEMBERSHIPS = ['group_members', 'identity_groups', 'external_group_mappings'] as const;

/**
 * The statements that make the table, and note since when somebody is in a group: by the number of the last change set that there
 * was, which no clock can get wrong. Who is in a group when this is made has been so before every set.
 */
export function protectionStatements(text: string): readonly string[] {
  return [
    `create table protections (
      configuration_id ${text} unique references configurations (id) on delete cascade,
      composite_id ${text} unique references composites (id) on delete cascade,
      scope_value_id ${text} unique references scope_values (id) on delete cascade,
      approvals bigint not null check (approvals between 0 and 5),
      group_id ${text} references groups (id),
      by_change_set_only bigint not null)`,
    'create index protections_by_group on protections (group_id) where group_id is not null',
    `alter table change_sets add column protection ${text}`,
    ...MEMBERSHIPS.map((table) => `alter table ${table} add column since_set bigint not null default 0`),
    'drop view group_memberships',
    `create view group_memberships as
      select group_id, user_id, 'Local' as source, since_set from group_members
      union all
      select m.group_id, i.user_id, i.provider as source,
        case when g.since_set > m.since_set then g.since_set else m.since_set end as since_set
      from identity_groups g
        join identities i on i.id = g.identity_id
        join external_group_mappings m on m.provider = i.provider and m.external_group_id = g.external_group_id`,
  ];
}
