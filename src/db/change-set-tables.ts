/** Row types of change sets and of their approvals. `schema.ts` explains the conventions. */

import type { Generated } from 'kysely';

export const CHANGE_SET_STATES = ['Open', 'Scheduled', 'Applied', 'Discarded', 'Failed'] as const;
export type ChangeSetState = (typeof CHANGE_SET_STATES)[number];

export interface ChangeSetsTable {
  /** Counts up, and is never used twice: `nextChangeSetId` gives it. */
  id: number;
  title: string;
  description: string | null;
  state: ChangeSetState;
  /** JSON: the deeds as they are kept, `ShownChange[]` of deeds/changes.ts. */
  deeds: string;
  /** JSON: what each of the deeds names, `Named[][]` of deeds/named-changes.ts. Who may see a deed is told by it. */
  named: string;
  /** The name of who made it, who may be gone. */
  created_by: string;
  user_id: string;
  created_at: number;
  /** JSON: the ids of the users who made or edited it. None of them approves it. */
  authors: string;
  /** The commit of its branch in `changes.git`. */
  tip: string;
  /** Rises with each change of the row. */
  row_version: number;
  /** When it is to be applied, where it is scheduled. */
  apply_at: number | null;
  /** JSON: in whose name, and by which token. */
  apply_as: string | null;
  applied_at: number | null;
  /** The name of who applied it. */
  applied_by: string | null;
  /** JSON: who passed the approvals that were missing, when and why. */
  override: string | null;
  /** JSON: the code and the message of what stopped a scheduled one. */
  failure: string | null;
  /** The set that this one takes back. */
  revert_of: number | null;
  /** The set that took this one back, once it was applied. */
  reverted_by: number | null;
  /** The last preview of it, and the digest that it had then. */
  preview_id: string | null;
  preview_digest: string | null;
  /** JSON: what was there before it was applied, which a revert brings back. */
  undo: string | null;
  /** JSON: what protected it when it was applied, `ShownProtection[]` of deeds/set-protection.ts; null before. */
  protection: string | null;
  /** JSON: what is still to be moved of a set whose commit point is passed; null where all is done. */
  pending_moves: string | null;
}

/** A person has at most one approval of a set: the last one. */
export interface ChangeSetApprovalsTable {
  set_id: number;
  user_id: string;
  /** The name of the person, who may be gone. */
  username: string;
  at: number;
  /** The digest that the set had. */
  digest: string;
}

export interface ChangeSetTables {
  change_sets: ChangeSetsTable;
  change_set_approvals: ChangeSetApprovalsTable;
  /** The one row has the last id that was given to a set. */
  change_set_counter: { id: Generated<number>; value: number };
}

/** The statements that make the tables, the same on both engines but for the type of texts. */
export function changeSetStatements(text: string): readonly string[] {
  return [
    `create table change_sets (
      id bigint primary key,
      title ${text} not null,
      description ${text},
      state ${text} not null check (state in ('Open', 'Scheduled', 'Applied', 'Discarded', 'Failed')),
      deeds ${text} not null,
      named ${text} not null,
      created_by ${text} not null,
      user_id ${text} not null,
      created_at bigint not null,
      authors ${text} not null,
      tip ${text} not null,
      row_version bigint not null,
      apply_at bigint,
      apply_as ${text},
      applied_at bigint,
      applied_by ${text},
      "override" ${text},
      failure ${text},
      revert_of bigint,
      reverted_by bigint,
      preview_id ${text},
      preview_digest ${text},
      undo ${text},
      pending_moves ${text})`,
    'create index change_sets_by_state on change_sets (state, id)',
    `create index change_sets_due on change_sets (apply_at) where state = 'Scheduled'`,
    'create index change_sets_pending on change_sets (id) where pending_moves is not null',
    `create table change_set_approvals (
      set_id bigint not null references change_sets (id) on delete cascade,
      user_id ${text} not null,
      username ${text} not null,
      "at" bigint not null,
      digest ${text} not null,
      primary key (set_id, user_id))`,
    'create table change_set_counter (id integer primary key check (id = 1), value bigint not null)',
    'insert into change_set_counter (id, value) values (1, 0)',
  ];
}
