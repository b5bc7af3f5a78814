/** Writes repositories to the tables of PostgreSQL. */

import { type Kysely, sql } from 'kysely';
import type { Db } from '../database.ts';
import type {
  ComingObject,
  GitTables,
  RefsChange,
  RefsMove,
  RepositoryName,
  StoredObject,
  StoredRepository,
} from '../git-tables.ts';
import type { Schema } from '../schema.ts';
import type { Query } from './batch.ts';
import { PostgresGitReader, type RepositoryRow, repositoryOf, SELECT, toBytes } from './git-reader.ts';
import { ObjectWriter } from './object-writer.ts';

/** The feed tells so many moves of one change. Whoever must know of more reads all refs. */
const MOST_MOVES = 200;

interface Handles {
  /** Takes its turn in the feed. */
  write: Kysely<Schema>;
  /** Takes no turn, and leaves it to a later commit to flush. */
  noteUnflushed: Kysely<Schema>;
  /** Takes no turn. */
  writeNow: Kysely<Schema>;
}

const SELECT_PRUNABLE = `${SELECT} and refs_removed_at is not null
  and (pruned_at is null or pruned_at < least(refs_removed_at + interval '1 day', now() - interval '1 day'))`;

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

  writeStream(repositoryId: string, object: ComingObject): Promise<void> {
    return this.objects.writeLarge(repositoryId, object);
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
      set state = ${after}, shallow = coalesce(${shallow && [...shallow]}::text[], shallow),
        refs_removed_at = case when ${moves.some(({ from }) => from !== null)} then now() else refs_removed_at end
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

  async prunable(): Promise<StoredRepository[]> {
    const rows = await this.query(SELECT_PRUNABLE, []);
    return rows.map((row) => repositoryOf(row as RepositoryRow));
  }

  async prune(id: string, oids: readonly string[]): Promise<void> {
    for (let at = 0; at < oids.length; at += OBJECTS_AT_ONCE) {
      const some = oids.slice(at, at + OBJECTS_AT_ONCE).map(toBytes);
      // What was written once more meanwhile is needed again.
      await sql`delete from git_objects where repository_id = ${id} and oid = any(${some}::bytea[])
        and created_at < now() - ${GRACE}`.execute(this.handles.writeNow);
    }
    // With another state the caches of all servers drop these objects too, when they are used next.
    await sql`update git_repositories set pruned_at = now(), state = case when ${oids.length > 0}
      then gen_random_uuid() else state end where id = ${id}`.execute(this.handles.writeNow);
  }

  async pruneRemoved(): Promise<void> {
    const { writeNow } = this.handles;
    const { rows } = await sql<{ id: string }>`select id from git_repositories
      where removed_at < now() - ${HOLD}`.execute(writeNow);
    for (const { id } of rows) {
      for (let deleted = 1n; deleted > 0n; )
        deleted =
          (
            await sql`delete from git_objects where repository_id = ${id} and oid in
            (select oid from git_objects where repository_id = ${id} limit ${OBJECTS_AT_ONCE})`.execute(
              writeNow,
            )
          ).numAffectedRows ?? 0n;
      await sql`delete from git_repositories where id = ${id}`.execute(writeNow);
    }
  }

  async remove(trx: Db, { kind, name }: RepositoryName): Promise<void> {
    const { rows } = await sql<{ id: string; state: string }>`update git_repositories
      set removed_at = now()
      where kind = ${kind} and name = ${name} and removed_at is null returning id, state`.execute(trx);
    for (const { id, state } of rows) {
      await sql`delete from git_refs where repository_id = ${id}`.execute(trx);
      await tell(trx, { kind, name, before: state, after: null, moves: null });
    }
  }
}

/** The objects of one statement, so that none takes long. */
const OBJECTS_AT_ONCE = 500;

/** For so long the objects of a repository stay that was removed, for those who still read there. */
const HOLD = sql.raw(`interval '65 minutes'`);
/** A write makes its objects before the refs that lead to them, and marks those again that are there. None takes a day. */
const GRACE = sql.raw(`interval '1 day'`);

/** Tells all servers of a change, so that they need not read all refs. */
async function tell(trx: Db, change: RefsChange): Promise<void> {
  const moves = change.moves !== null && change.moves.length <= MOST_MOVES ? change.moves : null;
  const key = JSON.stringify({ ...change, moves });
  await trx.insertInto('changes').values({ kind: 'refs', key }).execute();
}
