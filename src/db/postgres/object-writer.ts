/** Writes Git objects. Small ones of a repository that are written at the same time share a statement. */

import { type Kysely, sql } from 'kysely';
import type { ComingObject, StoredObject } from '../git-tables.ts';
import type { Schema } from '../schema.ts';
import { toBytes } from './git-reader.ts';

/** Bytes of one part of an object. */
const PART = 1024 * 1024;
/** Objects of up to so many bytes share a statement, and so many bytes of them at most. */
const SMALL = 64 * 1024;
const AT_ONCE = 1024 * 1024;

interface Waiting {
  object: StoredObject;
  bytes: number;
  done(): void;
  failed(error: unknown): void;
}

/**
 * The small objects of one repository that wait for a statement. A repository is written by one section at a time, so they
 * go over the connection of that section.
 */
class Queue {
  private readonly send: (objects: readonly StoredObject[]) => Promise<void>;
  private waiting: Waiting[] = [];
  private isSending = false;

  constructor(send: (objects: readonly StoredObject[]) => Promise<void>) {
    this.send = send;
  }

  add(object: StoredObject, bytes: number): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ object, bytes, done, failed });
      if (!this.isSending) void this.sendAll();
    });
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && !this.isSending;
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    // Those who write at the same time have not all called yet.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const some = this.take();
      const distinct = new Map(some.map(({ object }) => [object.oid, object]));
      await this.send([...distinct.values()]).then(
        () => some.forEach(({ done }) => void done()),
        (error: unknown) => some.forEach(({ failed }) => void failed(error)),
      );
    }
    this.isSending = false;
  }

  private take(): Waiting[] {
    let [count, sum] = [0, 0];
    for (const { bytes } of this.waiting) {
      sum += bytes;
      if (count > 0 && sum > AT_ONCE) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }
}

export class ObjectWriter {
  private readonly handle: Kysely<Schema>;
  private readonly queues = new Map<string, Queue>();

  /** @param handle takes no turn in the feed. It may leave it to a later commit to flush. */
  constructor(handle: Kysely<Schema>) {
    this.handle = handle;
  }

  /** @throws HawserError unavailable, or the driver's error */
  async write(repositoryId: string, object: StoredObject): Promise<void> {
    const bytes = object.deflated.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > SMALL) return this.writeLarge(repositoryId, object);
    const queue =
      this.queues.get(repositoryId) ?? new Queue((objects) => this.writeSmall(repositoryId, objects));
    this.queues.set(repositoryId, queue);
    try {
      await queue.add(object, bytes);
    } finally {
      if (queue.isEmpty) this.queues.delete(repositoryId);
    }
  }

  private async writeSmall(repositoryId: string, objects: readonly StoredObject[]): Promise<void> {
    const [oids, types] = [objects.map(({ oid }) => toBytes(oid)), objects.map(({ type }) => type)];
    const [sizes, bytes] = [objects.map(({ size }) => size), objects.map(({ deflated }) => joined(deflated))];
    await sql`with given as (
        select * from unnest(${oids}::bytea[], ${types}::text[], ${sizes}::bigint[], ${bytes}::bytea[])
          as given (oid, type, size, bytes)),
      made as (
        insert into git_objects (repository_id, oid, type, size)
        select ${repositoryId}::uuid, oid, type, size from given order by oid
        on conflict (repository_id, oid) do update set created_at = now()
        returning oid, xmax = 0 as is_new)
      insert into git_object_parts (repository_id, oid, part, bytes)
      select ${repositoryId}::uuid, oid, 0, bytes from given join made using (oid) where is_new`.execute(
      this.handle,
    );
  }

  /** @throws HawserError unavailable, the driver's error, or what the pieces throw, which undoes the write */
  async writeLarge(
    repositoryId: string,
    { oid, type, size, deflated }: StoredObject | ComingObject,
  ): Promise<void> {
    const id = toBytes(oid);
    const parts = partsOf(deflated);
    // It may take long until there is a part, and a transaction must not be silent meanwhile.
    let { value: bytes } = await parts.next();
    await this.handle.transaction().execute(async (trx) => {
      const { rows } = await sql<{ is_new: boolean }>`insert into git_objects (repository_id, oid, type, size)
        values (${repositoryId}, ${id}, ${type}, ${size})
        on conflict (repository_id, oid) do update set created_at = now()
        returning xmax = 0 as is_new`.execute(trx);
      if (rows[0]?.is_new !== true) return;
      for (let part = 0; bytes; part += 1) {
        await sql`insert into git_object_parts (repository_id, oid, part, bytes)
          values (${repositoryId}, ${id}, ${part}, ${bytes})`.execute(trx);
        ({ value: bytes } = await parts.next());
      }
    });
    // Whoever gives the pieces waits until all are taken.
    while (bytes) ({ value: bytes } = await parts.next());
  }
}

const joined = (pieces: readonly Buffer[]) => (pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));

/** The bytes in parts of one size, of which the last may be smaller. */
export async function* partsOf(
  pieces: readonly Buffer[] | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  let [held, size]: [Buffer[], number] = [[], 0];
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const some = piece.subarray(at, at + PART - size);
      held.push(some);
      [at, size] = [at + some.length, size + some.length];
      if (size < PART) continue;
      yield Buffer.concat(held);
      [held, size] = [[], 0];
    }
  }
  if (size > 0) yield Buffer.concat(held);
  return undefined;
}
