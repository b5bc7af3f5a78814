/**
 * Git objects: loose ones read and written by our own hand, those in packs, and what must be taken apart, read by
 * isomorphic-git through our file system. Errors are the store's own.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommitObject, Errors, type ReadObjectResult, readObject, type TagObject } from 'isomorphic-git';
import pLimit from 'p-limit';
import type { HawserError } from '../lib/errors.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, errnoOf, missingRepository, toStoreError, unlessAbsent } from './disk-errors.ts';
import { loosePath, type ObjectContent, readLoose, wrapObject, writeLoose } from './loose-objects.ts';
import { type NewCommit, type NewTag, printCommit, printTag } from './object-text.ts';
import type { PackCaches } from './pack-cache.ts';

const CONCURRENT_WRITES = 8;
const PAUSE_BEFORE_RETRY = 20;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export interface ParsedTypes {
  commit: CommitObject;
  tag: TagObject;
}

interface ReadContent extends ObjectContent {
  /** The file that it comes from, relative to the repository; null of a loose object. */
  pack: string | null;
}

export class ObjectStore {
  private readonly fs: AtomicFs;
  private readonly packs: PackCaches;
  private readonly writes = pLimit(CONCURRENT_WRITES);

  constructor(fs: AtomicFs, packs: PackCaches) {
    this.fs = fs;
    this.packs = packs;
  }

  /** The bytes of a blob or tree; `repository_damaged` when it is missing, broken or of another type. */
  async readBytes(gitdir: string, oid: string, type: 'blob' | 'tree'): Promise<Buffer> {
    const read = await this.readContent(gitdir, oid);
    if (read.type !== type) throw damagedRepository();
    return read.content;
  }

  /** Of any type and hashed anew, since what comes from a pack was not; `repository_damaged` likewise. */
  async readProven(gitdir: string, oid: string): Promise<ObjectContent> {
    const { type, content, pack } = await this.readContent(gitdir, oid);
    if (pack !== null && (await wrapObject(type, content)).oid !== oid) throw damagedRepository();
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
      const read = await this.trying(gitdir, (cache) => this.readByLibrary(gitdir, oid, 'parsed', cache));
      return read.type === type ? (read.object as ParsedTypes[T]) : null;
    };
    try {
      return await parse();
    } catch {
      // isomorphic-git throws alike at what it cannot read and what it cannot take apart.
      await this.readContent(gitdir, oid);
    }
    return parse().catch((error) => {
      // Nothing but the object's own fault may count against it: the verdict is for good.
      if (error instanceof Error && error.cause instanceof Errors.NotFoundError) throw error;
      return null;
    });
  }

  /** Writes a blob or tree, flushed, unless the repository holds it already, whole. */
  async write(gitdir: string, type: 'blob' | 'tree', content: Uint8Array): Promise<string> {
    return this.writes(async () => {
      const object = await wrapObject(type, content);
      if (!(await this.holds(gitdir, object.oid))) await writeLoose(this.fs, gitdir, object);
      return object.oid;
    });
  }

  /** Flushed. Not looked for before: it holds the time at which it is made. */
  async writeCommit(gitdir: string, commit: NewCommit): Promise<string> {
    return this.put(gitdir, 'commit', printCommit(commit));
  }

  /** As `writeCommit`. */
  async writeTag(gitdir: string, tag: NewTag): Promise<string> {
    return this.put(gitdir, 'tag', printTag(tag));
  }

  private async put(gitdir: string, type: 'commit' | 'tag', text: string): Promise<string> {
    const object = await wrapObject(type, Buffer.from(text));
    await writeLoose(this.fs, gitdir, object);
    return object.oid;
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
      const { pack } = await this.readOnce(gitdir, oid, this.packs.of(gitdir));
      // As git does: a gc beside us may be about to drop what no ref leads to any more from a pack that looks old.
      return pack === null || (await this.fs.freshen(join(gitdir, pack)));
    } catch (error) {
      if (errnoOf(error) !== undefined) throw error;
      if (loose) await this.fs.unlink(loosePath(gitdir, oid));
      return false;
    }
  }

  private readContent(gitdir: string, oid: string): Promise<ReadContent> {
    return this.trying(gitdir, (cache) => this.readOnce(gitdir, oid, cache));
  }

  /** Twice before it fails: a gc beside us may have moved the object from one pack to another meanwhile. */
  private async trying<T>(gitdir: string, readOnce: (cache: object) => Promise<T>): Promise<T> {
    try {
      return await readOnce(this.packs.of(gitdir));
    } catch {
      await sleep(PAUSE_BEFORE_RETRY);
    }
    try {
      // With a cache of its own, so that a damaged object does not cost the others theirs.
      const read = await readOnce({});
      this.packs.drop(gitdir);
      return read;
    } catch (error) {
      throw await this.explain(gitdir, error);
    }
  }

  private async readOnce(gitdir: string, oid: string, cache: object): Promise<ReadContent> {
    const loose = oid === EMPTY_TREE ? null : await readLoose(this.fs, gitdir, oid);
    if (loose) return { ...loose, pack: null };
    const read = await this.readByLibrary(gitdir, oid, 'content', cache);
    if (read.format !== 'content') throw damagedRepository();
    const { type, object, source } = read;
    const content = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
    return { type, content, pack: source?.endsWith('.pack') ? source : null };
  }

  private async readByLibrary(
    gitdir: string,
    oid: string,
    format: 'content' | 'parsed',
    cache: object,
  ): Promise<ReadObjectResult> {
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

/** About what isomorphic-git keeps of an object: its bytes and some hundred for the entry. */
function sizeOf(read: ReadObjectResult): number {
  const content = read.object;
  return 200 + (content instanceof Uint8Array ? content.byteLength : 300);
}
