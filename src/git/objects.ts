/**
 * Git objects, read by isomorphic-git through our file system, and written by our own hand: its way of compressing takes
 * a millisecond for each, however small. Errors are the store's own.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import { type CommitObject, Errors, type ReadObjectResult, readObject, type TagObject } from 'isomorphic-git';
import type { HawserError } from '../lib/errors.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, errnoOf, missingRepository, toStoreError, unlessAbsent } from './disk-errors.ts';
import { readLooseObject } from './loose-objects.ts';
import { type NewCommit, type NewTag, printCommit, printTag } from './object-text.ts';
import type { PackCaches } from './pack-cache.ts';

const CONCURRENT_WRITES = 8;
const PAUSE_BEFORE_RETRY = 20;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
/** Bytes up to which it takes less time to compress an object than to have it done on another thread. */
const SMALL = 16_384;

const deflateAside = promisify(deflate);

export interface ParsedTypes {
  commit: CommitObject;
  tag: TagObject;
}

/** An object of any type, whose bytes hash to its id. */
export interface ProvenObject {
  type: string;
  content: Buffer;
}

export class ObjectStore {
  private readonly fs: AtomicFs;
  private readonly packs: PackCaches;
  private readonly writes = new Semaphore(CONCURRENT_WRITES);

  constructor(fs: AtomicFs, packs: PackCaches) {
    this.fs = fs;
    this.packs = packs;
  }

  /** The bytes of a blob or tree; `repository_damaged` when it is missing, broken or of another type. */
  async readBytes(gitdir: string, oid: string, type: 'blob' | 'tree'): Promise<Buffer> {
    const read = await this.read(gitdir, oid, 'content');
    if (read.format !== 'content' || read.type !== type) throw damagedRepository();
    const { buffer, byteOffset, byteLength } = read.object;
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  /** Of any type and hashed anew, since what comes from a pack was not; `repository_damaged` likewise. */
  async readProven(gitdir: string, oid: string): Promise<ProvenObject> {
    const read = await this.read(gitdir, oid, 'content');
    if (read.format !== 'content') throw damagedRepository();
    const { type, object } = read;
    const content = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
    const hash = createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content);
    if (hash.digest('hex') !== oid) throw damagedRepository();
    return { type, content };
  }

  /**
   * A commit or tag taken apart. Null when the object is whole but of another type, or malformed by whoever
   * wrote it; `repository_damaged` when it is missing or broken.
   */
  async readParsed<T extends keyof ParsedTypes>(
    gitdir: string,
    oid: string,
    type: T,
  ): Promise<ParsedTypes[T] | null> {
    const parse = async () => {
      const read = await this.read(gitdir, oid, 'parsed');
      return read.type === type ? (read.object as ParsedTypes[T]) : null;
    };
    try {
      return await parse();
    } catch {
      // isomorphic-git throws alike at what it cannot read and what it cannot take apart.
      await this.read(gitdir, oid, 'content');
    }
    return parse().catch((error) => {
      // Nothing but the object's own fault may count against it: the verdict is for good.
      if (error instanceof Error && error.cause instanceof Errors.NotFoundError) throw error;
      return null;
    });
  }

  /** Writes a blob or tree, flushed, unless the repository holds it already, whole. */
  async write(gitdir: string, type: 'blob' | 'tree', content: Uint8Array): Promise<string> {
    return this.writes.run(async () => {
      const object = wrap(type, content);
      if (!(await this.holds(gitdir, object.oid))) await this.put(gitdir, object);
      return object.oid;
    });
  }

  /** Flushed. Not looked for before: it holds the time at which it is made. */
  async writeCommit(gitdir: string, commit: NewCommit): Promise<string> {
    return this.put(gitdir, wrap('commit', Buffer.from(printCommit(commit))));
  }

  /** As `writeCommit`. */
  async writeTag(gitdir: string, tag: NewTag): Promise<string> {
    return this.put(gitdir, wrap('tag', Buffer.from(printTag(tag))));
  }

  private async put(gitdir: string, { oid, bytes }: WrappedObject): Promise<string> {
    const deflated = bytes.byteLength > SMALL ? await deflateAside(bytes) : deflateSync(bytes);
    await this.fs.writeFile(loosePath(gitdir, oid), deflated);
    return oid;
  }

  /**
   * A loose object that a power cut under another program truncated is moved out of the way: nobody can use
   * it, and isomorphic-git would take its mere presence for good.
   */
  private async holds(gitdir: string, oid: string): Promise<boolean> {
    const loose = await this.fs.freshen(loosePath(gitdir, oid));
    // isomorphic-git answers for this one itself, without a look whether it is there.
    if (oid === EMPTY_TREE) return loose;
    try {
      const { source } = await this.readOnce(gitdir, oid, 'content', this.packs.of(gitdir));
      if (!source?.endsWith('.pack')) return true;
      // As git does: a gc beside us may be about to drop what no ref leads to any more from a pack that looks old.
      return await this.fs.freshen(join(gitdir, source));
    } catch (error) {
      if (errnoOf(error) !== undefined) throw error;
      if (loose) await this.fs.unlink(loosePath(gitdir, oid));
      return false;
    }
  }

  /** Twice before it fails: a gc beside us may have moved the object from one pack to another meanwhile. */
  private async read(gitdir: string, oid: string, format: 'content' | 'parsed'): Promise<ReadObjectResult> {
    try {
      return await this.readOnce(gitdir, oid, format, this.packs.of(gitdir));
    } catch {
      await sleep(PAUSE_BEFORE_RETRY);
    }
    try {
      // With a cache of its own, so that a damaged object does not cost the others theirs.
      const read = await this.readOnce(gitdir, oid, format, {});
      this.packs.drop(gitdir);
      return read;
    } catch (error) {
      throw await this.explain(gitdir, error);
    }
  }

  private async readOnce(
    gitdir: string,
    oid: string,
    format: 'content' | 'parsed',
    cache: object,
  ): Promise<ReadObjectResult> {
    if (format === 'content' && oid !== EMPTY_TREE) {
      const source = loosePath(gitdir, oid);
      const loose = await readLooseObject(this.fs, source, oid);
      if (loose) return { oid, format, type: loose.type, object: loose.content, source };
    }
    const read = await readObject({ fs: this.fs, gitdir, oid, format, cache });
    if (read.source?.endsWith('.pack')) this.packs.count(gitdir, cache, sizeOf(read));
    return read;
  }

  private async explain(gitdir: string, error: unknown): Promise<Error> {
    if ((await unlessAbsent(this.fs.lstat(gitdir), null)) === null) return missingRepository(error);
    const errno = errnoOf(error);
    return errno === undefined || errno === 'ENOENT' ? damagedRepository(error) : toStoreError(error);
  }
}

/** Whether a `repository_damaged` is one of an object that is not there, and not of one that is broken. */
export function isMissingObject(error: HawserError): boolean {
  return error.cause instanceof Errors.NotFoundError;
}

interface WrappedObject {
  oid: string;
  bytes: Buffer;
}

/** With the header that Git hashes before the content. */
function wrap(type: string, content: Uint8Array): WrappedObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.byteLength}\0`), content]);
  return { oid: createHash('sha1').update(bytes).digest('hex'), bytes };
}

function loosePath(gitdir: string, oid: string): string {
  return join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
}

/** About what isomorphic-git keeps of an object: its bytes and some hundred for the entry. */
function sizeOf(read: ReadObjectResult): number {
  const content = read.object;
  return 200 + (content instanceof Uint8Array ? content.byteLength : 300);
}
