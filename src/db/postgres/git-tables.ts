/** Writes repositories to the tables of PostgreSQL. */

import { type Kysely, sql } from 'kysely';
import type { Db } from '../database.ts';
import type {
  GitTables,
  RefsChange,
  RefsMove,
  RepositoryName,
  StoredObject,
  StoredRepository,
} from '../git-tables.ts';
import type { Schema } from '../schema.ts';
import type { Query } from './batch.ts';
import { PostgresGitReader, toBytes } from './git-reader.ts';
import { ObjectWriter } from './object-writer.ts';

/** The feed tells so many moves of one change. Whoever must know of more reads all refs. */
const MOST_MOVES = 200;

interface Handles {
  /** Takes its turn in the feed. */
  write: Kysely<Schema>;
  /** Takes no turn, and leaves it to a later commit to flush. */
  noteUnflushed: Kysely<Schema>;
}

export class PostgresGitTables extends PostgresGitReader implements GitTables {
  private readonly handles: Handles;
  private readonly objects: ObjectWriter;

  constructor(query: Query, handles: Handles) {
    super(query);
    this.handles = handles;
    this.objects = new ObjectWriter(handles.noteUnflushed);
  }

  writeObject(repositoryId: string, object: StoredObject): Promise<void> {
    return this.objects.write(repositoryId, object);
  }

  transaction(work: (trx: Db) => Promise<void>): Promise<void> {
    return this.handles.write.transaction().execute(work);
  }

  async create(trx: Db, { id, kind, name, settings, shallow, state }: StoredRepository): Promise<void> {
    const text = settings === null ? null : JSON.stringify(settings);
    await sql`insert into git_repositories (id, kind, name, settings, shallow, state)
      values (${id}, ${kind}, ${name}, ${text}::jsonb, ${[...shallow]}, ${state})`.execute(trx);
    await tell(trx, { kind, name, before: null, after: state, moves: null });
  }

  async moveRefs(trx: Db, { id, shallow, ...change }: RefsMove): Promise<boolean> {
    const { before, after, moves } = change;
    // Nobody has moved a ref since the state was read, so each one still has the value that the move begins at.
    const { numAffectedRows } = await sql`update git_repositories
      set state = ${after}, shallow = coalesce(${shallow && [...shallow]}::text[], shallow)
      where id = ${id} and state = ${before} and removed_at is null`.execute(trx);
    if (numAffectedRows !== 1n) return false;
    const names = moves.map(({ name }) => name);
    await sql`delete from git_refs where repository_id = ${id} and name = any(${names}::text[])`.execute(trx);
    const made = moves.flatMap(({ name, to }) => (to === null ? [] : [{ name, oid: toBytes(to) }]));
    if (made.length > 0)
      await sql`insert into git_refs (repository_id, name, oid) select ${id}::uuid, name, oid
        from unnest(${made.map(({ name }) => name)}::text[], ${made.map(({ oid }) => oid)}::bytea[])
          as made (name, oid)`.execute(trx);
    await tell(trx, change);
    return true;
  }

  async remove(trx: Db, { kind, name }: RepositoryName): Promise<void> {
    const { rows } = await sql<{ id: string; state: string }>`update git_repositories
      set removed_at = (extract(epoch from now()) * 1000)::bigint
      where kind = ${kind} and name = ${name} and removed_at is null returning id, state`.execute(trx);
    for (const { id, state } of rows) {
      await sql`delete from git_refs where repository_id = ${id}`.execute(trx);
      await tell(trx, { kind, name, before: state, after: null, moves: null });
    }
  }
}

/** Tells all servers of a change, so that they need not read all refs. */
async function tell(trx: Db, change: RefsChange): Promise<void> {
  const moves = change.moves !== null && change.moves.length <= MOST_MOVES ? change.moves : null;
  const key = JSON.stringify({ ...change, moves });
  await trx.insertInto('changes').values({ kind: 'refs', key }).execute();
}
