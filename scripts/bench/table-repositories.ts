/** Brings copies of a bare repository into the tables of PostgreSQL. Through the API thousands would take minutes. */

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Database, Db } from '../../src/db/database.ts';
import type { GitTables, StoredObject } from '../../src/db/git-tables.ts';

/** A configuration of the registry. */
export interface Named {
  id: string;
  name: string;
}

/** So many copies share a statement. */
const COPIES_AT_ONCE = 100;
const OBJECT_FOLDER = /^[0-9a-f]{2}$/;

/** @param template the folder of a repository whose objects are all loose */
export async function fillTables(
  { repositories }: Database,
  template: string,
  [first, ...others]: readonly Named[],
): Promise<void> {
  if (repositories === null) throw new Error('these repositories are folders');
  if (first === undefined) return;
  const id = randomUUID();
  for (const object of looseObjects(template)) await repositories.writeObject(id, object);
  await repositories.transaction((trx) => makeFirst(repositories, trx, id, template, first));
  for (let at = 0; at < others.length; at += COPIES_AT_ONCE)
    await repositories.transaction((trx) => copy(trx, id, others.slice(at, at + COPIES_AT_ONCE)));
}

async function makeFirst(
  tables: GitTables,
  trx: Db,
  id: string,
  template: string,
  registered: Named,
): Promise<void> {
  const settings = {
    ...{ id: registered.id, description: null, createdBy: '', useServerManagedParameters: true },
    ...{ entryPoint: null, createdAt: Date.now() },
  };
  const name = { kind: 'configurations', name: registered.name } as const;
  const [before, after] = [randomUUID(), randomUUID()];
  await tables.create(trx, { id, ...name, settings, shallow: [], state: before });
  await tables.moveRefs(trx, { id, ...name, before, after, moves: refsOf(template), shallow: null });
}

/** The copies have the objects and refs of the first repository, and ids and names of their own. */
async function copy(trx: Db, source: string, registered: readonly Named[]): Promise<void> {
  const copies = JSON.stringify(
    registered.map(({ id, name }) => ({ id: randomUUID(), registered: id, name })),
  );
  const made = sql`jsonb_to_recordset(${copies}::jsonb) as made (id uuid, registered text, name text)`;
  await sql`insert into git_repositories (id, kind, name, settings, shallow, state)
    select made.id, kind, made.name, settings || jsonb_build_object('id', made.registered), shallow, gen_random_uuid()
    from git_repositories r, ${made} where r.id = ${source}`.execute(trx);
  for (const [table, columns] of [
    ['git_objects', 'oid, type, size'],
    ['git_object_parts', 'oid, part, bytes'],
    ['git_refs', 'name, oid'],
  ] as const) {
    const copied = sql.raw(columns.replace(/\w+/g, 'o.$&'));
    await sql`insert into ${sql.table(table)} (repository_id, ${sql.raw(columns)})
      select made.id, ${copied} from ${sql.table(table)} o, ${made} where o.repository_id = ${source}`.execute(
      trx,
    );
  }
}

function* looseObjects(gitdir: string): Generator<StoredObject> {
  const objects = join(gitdir, 'objects');
  for (const folder of readdirSync(objects).filter((name) => OBJECT_FOLDER.test(name))) {
    for (const file of readdirSync(join(objects, folder))) {
      const deflated = readFileSync(join(objects, folder, file));
      const [type = '', size = ''] =
        inflateSync(deflated).toString('latin1', 0, 32).split('\0', 1)[0]?.split(' ') ?? [];
      yield { oid: folder + file, type, size: Number(size), deflated: [deflated] };
    }
  }
}

function refsOf(gitdir: string): { name: string; from: null; to: string }[] {
  const format = '--format=%(objectname) %(refname)';
  const lines = execFileSync('git', ['--git-dir', gitdir, 'for-each-ref', format], { encoding: 'utf8' });
  return lines
    .trim()
    .split('\n')
    .map((line) => ({ name: line.slice(41), from: null, to: line.slice(0, 40) }));
}
