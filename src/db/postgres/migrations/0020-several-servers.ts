/** What lets several servers work on one database: repositories, secrets, and the servers themselves. */

import { type Kysely, type Migration, sql } from 'kysely';
import { OLDEST_RELEASE } from '../../oldest-release.ts';
import { TEXT } from './baseline/columns.ts';

const STATEMENTS = [
  // A removed repository keeps its row until its objects are gone. Refs that go, or move away, leave objects behind.
  `create table git_repositories (
    id uuid primary key,
    kind ${TEXT} not null check (kind in ('configurations', 'composites', 'parameters')),
    name ${TEXT} not null,
    settings jsonb,
    shallow text[] collate "C" not null default '{}',
    state uuid not null,
    refs_removed_at timestamptz,
    pruned_at timestamptz,
    removed_at timestamptz)`,
  'create unique index git_repositories_by_name on git_repositories (kind, name) where removed_at is null',
  `create table git_objects (
    repository_id uuid not null,
    oid bytea not null check (length(oid) = 20),
    type ${TEXT} not null check (type in ('blob', 'tree', 'commit', 'tag')),
    size bigint not null,
    created_at timestamptz not null default now(),
    primary key (repository_id, oid))`,
  // Deflated bytes cannot be compressed once more.
  `create table git_object_parts (
    repository_id uuid not null,
    oid bytea not null,
    part integer not null,
    bytes bytea not null,
    primary key (repository_id, oid, part),
    foreign key (repository_id, oid) references git_objects (repository_id, oid) on delete cascade)`,
  'alter table git_object_parts alter column bytes set storage external',
  `create table git_refs (
    repository_id uuid not null references git_repositories (id),
    name ${TEXT} not null,
    oid bytea not null,
    primary key (repository_id, name),
    foreign key (repository_id, oid) references git_objects (repository_id, oid))`,
  'create index git_refs_by_object on git_refs (repository_id, oid)',
  `create table secrets (name ${TEXT} primary key, value bytea not null)`,
  `create table servers (id uuid primary key, version ${TEXT} not null, seen_at timestamptz not null)`,
  `create table oldest_release (id integer primary key check (id = 1), version ${TEXT} not null)`,
  `insert into oldest_release (id, version) values (1, '${OLDEST_RELEASE}')`,
];

export const severalServersMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
