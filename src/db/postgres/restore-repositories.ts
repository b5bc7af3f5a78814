/** Writes repositories and secrets of an archive into an empty PostgreSQL database, within the transaction of a restore. */

import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { StoredObject } from '../git-tables.ts';
import type { RestoredContent, RestoredRepository } from '../restored-content.ts';
import { toBytes } from './git-reader.ts';
import { partsOf } from './object-writer.ts';

/** Objects of one statement: so many at most, and of no more bytes than this, apart from the last one. */
const LARGEST_BATCH = 1_000;
const BYTES = 4 * 1024 * 1024;

const INSERT_REPOSITORY = `insert into git_repositories (id, kind, name, settings, shallow, state)
  values ($1, $2, $3, $4::jsonb, $5, $6)`;
const INSERT_OBJECTS = `insert into git_objects (repository_id, oid, type, size)
  select $1::uuid, * from unnest($2::bytea[], $3::text[], $4::bigint[])`;
const INSERT_PARTS = `insert into git_object_parts (repository_id, oid, part, bytes)
  select $1::uuid, * from unnest($2::bytea[], $3::integer[], $4::bytea[])`;
const INSERT_REFS = `insert into git_refs (repository_id, name, oid)
  select $1::uuid, * from unnest($2::text[], $3::bytea[])`;
const INSERT_SECRET = 'insert into secrets (name, value) values ($1, $2)';
/** Without statistics PostgreSQL would choose slow plans until it gathers them by itself. */
const ANALYZE = [
  'git_repositories',
  'git_objects',
  'git_object_parts',
  'git_refs',
  'secrets',
  'servers',
  'lead_lease',
]
  .map((table) => `analyze ${table}`)
  .join('; ');

export async function copyRepositories(
  client: Client,
  { repositories, secrets }: Pick<RestoredContent, 'repositories' | 'secrets'>,
): Promise<void> {
  for await (const repository of repositories) await copyRepository(client, repository);
  for (const [name, value] of secrets) await client.query(INSERT_SECRET, [name, value]);
  await client.query(ANALYZE);
}

async function copyRepository(client: Client, repository: RestoredRepository): Promise<void> {
  const { kind, name, settings, shallow, refs, objects } = repository;
  const id = randomUUID();
  const text = settings === null ? null : JSON.stringify(settings);
  await client.query(INSERT_REPOSITORY, [id, kind, name, text, shallow, randomUUID()]);
  let [batch, bytes]: [StoredObject[], number] = [[], 0];
  for await (const object of objects) {
    batch.push(object);
    bytes += object.deflated.reduce((sum, { length }) => sum + length, 0);
    if (batch.length < LARGEST_BATCH && bytes < BYTES) continue;
    await insertObjects(client, id, batch);
    [batch, bytes] = [[], 0];
  }
  await insertObjects(client, id, batch);
  await client.query(INSERT_REFS, [id, [...refs.keys()], [...refs.values()].map(toBytes)]);
}

async function insertObjects(client: Client, id: string, objects: readonly StoredObject[]): Promise<void> {
  const oids = objects.map(({ oid }) => toBytes(oid));
  const [types, sizes] = [objects.map(({ type }) => type), objects.map(({ size }) => size)];
  await client.query(INSERT_OBJECTS, [id, oids, types, sizes]);
  const parts: { oid: Buffer; part: number; bytes: Buffer }[] = [];
  for (const { oid, deflated } of objects) {
    let part = 0;
    for await (const bytes of partsOf(deflated)) {
      parts.push({ oid: toBytes(oid), part, bytes });
      part += 1;
    }
  }
  const columns = [
    parts.map(({ oid }) => oid),
    parts.map(({ part }) => part),
    parts.map(({ bytes }) => bytes),
  ];
  await client.query(INSERT_PARTS, [id, ...columns]);
}
