/** What is noted of scopes that get another name, or go with their files (scope-moves.ts). */

/** Rules as in schema.ts. */
export interface ScopeMovesTable {
  id: string;
  scope_type_id: string;
  /** Null where it is the scope type that moves. */
  scope_value_id: string | null;
  /** The name of the scope type when the deed began. */
  type_name: string;
  from_name: string;
  /** Null where the scope goes with its files. */
  to_name: string | null;
  /** JSON: who does it (security/audit.ts). */
  actor: string;
  started_at: number;
  /** Null while a repository may not have followed. */
  done_at: number | null;
}

/** The statements that make the table, the same on both engines but for the type of texts. */
export function scopeMoveStatements(text: string): readonly string[] {
  return [
    `create table scope_moves (
      id ${text} not null primary key,
      scope_type_id ${text} not null,
      scope_value_id ${text},
      type_name ${text} not null,
      from_name ${text} not null,
      to_name ${text},
      actor ${text} not null,
      started_at bigint not null,
      done_at bigint)`,
  ];
}
