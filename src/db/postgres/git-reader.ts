/** Reads repositories from the tables of PostgreSQL. */

import {
  type GitReader,
  type RepositoryName,
  SMALL_OBJECT,
  type StoredObject,
  type StoredRefs,
  type StoredRepository,
} from '../git-tables.ts';
import { BatchedRows, type Query } from './batch.ts';

const COLUMNS = 'id, kind, name, settings, shallow, state';
export const SELECT = `select ${COLUMNS} from git_repositories where removed_at is null`;
const SELECT_ONE = `${SELECT} and kind = $1 and name = $2`;
const SELECT_ALL = `${SELECT} order by kind, name`;
/** One statement, so that the state and the refs are those of one moment. */
const SELECT_REFS = `select ${COLUMNS}, (select json_object_agg(r.name, encode(r.oid, 'hex')) from git_refs r
    where r.repository_id = one.id) from (${SELECT_ONE}) one`;
const SELECT_TYPES = `select encode(oid, 'hex'), type from git_objects where repository_id = $1`;
const SELECT_SIZES = `select encode(p.oid, 'hex'), sum(length(p.bytes)) from git_object_parts p
  where p.repository_id = $1 and p.oid = any($2::bytea[]) group by p.oid`;
const SELECT_OBJECTS = `select encode(o.oid, 'hex'), o.type, o.size, p.bytes
  from git_objects o join git_object_parts p on p.repository_id = o.repository_id and p.oid = o.oid
  where o.repository_id = $1 and o.oid = any($2::bytea[]) order by o.oid, p.part`;
/** A small object has one part. The key is the id of the repository, a blank, and the id of the object. */
const SELECT_SMALL = `select o.type, o.size, p.bytes, asked.key
  from (select key, split_part(key, ' ', 1)::uuid as repository_id, decode(split_part(key, ' ', 2), 'hex') as oid
    from unnest($1::text[]) as keys (key)) asked
  join git_objects o on o.repository_id = asked.repository_id and o.oid = asked.oid and o.size <= ${SMALL_OBJECT}
  join git_object_parts p on p.repository_id = o.repository_id and p.oid = o.oid`;

/** Bytes of deflated objects that one query gives, unless one object alone is larger. */
const AT_ONCE = 8 * 1024 * 1024;
/** Ids of one query. */
const IDS_AT_ONCE = 2_000;

export type RepositoryRow = [
  id: string,
  kind: RepositoryName['kind'],
  name: string,
  settings: object | null,
  shallow: string[],
  state: string,
];
type ObjectRow = [oid: string, type: string, size: number, bytes: Buffer];

export class PostgresGitReader implements GitReader {
  protected readonly query: Query;
  /** A first poll of a configuration reads the tag, the commit and the trees of each of its versions. */
  private readonly small: BatchedRows<[type: string, size: number, bytes: Buffer]>;

  constructor(query: Query) {
    this.query = query;
    this.small = new BatchedRows(query, SELECT_SMALL);
  }

  async find({ kind, name }: RepositoryName): Promise<StoredRepository | undefined> {
    const [row] = await this.query(SELECT_ONE, [kind, name]);
    return row && repositoryOf(row as RepositoryRow);
  }

  async list(): Promise<StoredRepository[]> {
    return (await this.query(SELECT_ALL, [])).map((row) => repositoryOf(row as RepositoryRow));
  }

  async refs({ kind, name }: RepositoryName): Promise<StoredRefs | undefined> {
    const [row] = await this.query(SELECT_REFS, [kind, name]);
    if (row === undefined) return undefined;
    const refs = (row.at(-1) ?? {}) as Record<string, string>;
    return { repository: repositoryOf(row as unknown as RepositoryRow), refs: new Map(Object.entries(refs)) };
  }

  async readObject(repositoryId: string, oid: string): Promise<StoredObject | null> {
    const [type, size, bytes] = (await this.small.firstOf(`${repositoryId} ${oid}`)) ?? [];
    if (type === undefined || size === undefined || bytes === undefined)
      return (await this.fetch(repositoryId, [oid]))[0] ?? null;
    return { oid, type, size, deflated: [bytes] };
  }

  async *readObjects(repositoryId: string, oids: readonly string[]): AsyncGenerator<StoredObject[]> {
    for (let at = 0; at < oids.length; at += IDS_AT_ONCE) {
      const ids = oids.slice(at, at + IDS_AT_ONCE);
      const sizes = await this.query(SELECT_SIZES, [repositoryId, ids.map(toBytes)]);
      for (const some of slicesOf(sizes as [oid: string, bytes: number][]))
        yield await this.fetch(repositoryId, some);
    }
  }

  async objectTypes(repositoryId: string): Promise<Map<string, string>> {
    return new Map((await this.query(SELECT_TYPES, [repositoryId])) as [oid: string, type: string][]);
  }

  private async fetch(repositoryId: string, oids: readonly string[]): Promise<StoredObject[]> {
    const rows = (await this.query(SELECT_OBJECTS, [repositoryId, oids.map(toBytes)])) as ObjectRow[];
    const objects: StoredObject[] = [];
    for (let at = 0; at < rows.length; ) {
      const [oid, type, size] = rows[at] as ObjectRow;
      const parts = [];
      for (; rows[at]?.[0] === oid; at += 1) parts.push(rows[at] as ObjectRow);
      objects.push({ oid, type, size, deflated: parts.map(([, , , bytes]) => bytes) });
    }
    return objects;
  }
}

/** Groups of ids whose objects are not more than some MiB together. */
function* slicesOf(sizes: readonly [oid: string, bytes: number][]): Generator<string[]> {
  let [some, sum]: [string[], number] = [[], 0];
  for (const [oid, bytes] of sizes) {
    if (some.length > 0 && sum + bytes > AT_ONCE) {
      yield some;
      [some, sum] = [[], 0];
    }
    some.push(oid);
    sum += bytes;
  }
  if (some.length > 0) yield some;
}

export function repositoryOf([id, kind, name, settings, shallow, state]: RepositoryRow): StoredRepository {
  return { id, kind, name, settings, shallow, state };
}

export function toBytes(oid: string): Buffer {
  return Buffer.from(oid, 'hex');
}
