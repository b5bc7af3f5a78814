/**
 * Previews, and what they found in pieces: a preview of 100,000 nodes is some hundred rows. Neither is deleted with
 * anything else, because a preview stays what it was when the state moves on.
 */

import { type Kysely, type Migration, sql } from 'kysely';

const STATEMENTS = [
  `create table previews (
    id text not null primary key,
    user_id text not null,
    maker text not null,
    state text not null check (state in ('Running', 'Done', 'Failed')),
    created_at bigint not null,
    completed_at bigint,
    expires_at bigint not null,
    changes text not null,
    named text not null,
    is_narrowed integer not null,
    nodes integer not null,
    changed integer not null,
    unchanged integer not null,
    unresolvable integer not null,
    not_visible integer not null,
    group_count integer,
    error text) without rowid`,
  'create index previews_by_expiry on previews (expires_at)',
  `create index previews_running on previews (maker) where state = 'Running'`,
  `create table preview_pieces (
    preview_id text not null references previews (id),
    kind text not null,
    position integer not null,
    count integer not null,
    changed integer not null,
    unresolvable integer not null,
    content text not null,
    primary key (preview_id, kind, position))`,
];

export const previewsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
