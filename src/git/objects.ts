/**
 * The Git objects of all repositories. isomorphic-git writes them, reads those in packs and takes commits and tags apart,
 * all through our file system; loose-objects.ts reads loose ones. Errors are the store's own.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CommitObject,
  Errors,
  type PromiseFsClient,
  type ReadObjectResult,
  readObject,
  type TagObject,
  writeObject,
} from 'isomorphic-git';
import pLimit from 'p-limit';
import type { HawserError } from '../lib/errors.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, errnoOf, missingRepository, toStoreError, unlessAbsent } from './disk-errors.ts';
import {
  deflateObject,
  loosePath,
  type ObjectContent,
  readLooseObject,
  type WrappedObject,
  wrapObject,
} from './loose-objects.ts';
import type { PackCaches } from './object-caches.ts';

const CONCURRENT_WRITES = 8;
const PAUSE_BEFORE_RETRY = 20;
const ABSENT = Object.assign(new Error('ENOENT: not looked for'), { code: 'ENOENT' });
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export interface ParsedTypes {
  commit: CommitObject;
  tag: TagObject;
}

/** A commit that this server makes: it has no signature. */
export type NewCommit = Pick<CommitObject, 'tree' | 'parent' | 'author' | 'committer' | 'message'>;
/** A tag that this server makes: it has no signature. */
export type NewTag = Pick<TagObject, 'object' | 'type' | 'tag' | 'tagger' | 'message'>;

interface ReadContent extends ObjectContent {
  /** The pack that holds the object, relative to the repository; null for a loose object. */
  pack: string | null;
}

export class ObjectStore {
  private readonly fs: AtomicFs;
  private readonly client: PromiseFsClient;
  private readonly packs: PackCaches;
  private readonly writes = pLimit(CONCURRENT_WRITES);

  constructor(fs: AtomicFs, packs: PackCaches) {
    this.fs = fs;
    this.client = clientOf(fs);
    this.packs = packs;
  }

  /** The bytes of a blob or tree. Throws `repository_damaged` when it is missing, broken or of another type. */
  async readBytes(gitdir: string, oid: string, type: 'blob' | 'tree'): Promise<Buffer> {
    const read = await this.readContent(gitdir, oid);
    if (read.type !== type) throw damagedRepository();
    return read.content;
  }

  /**
   * An object of any type, whose hash has been compared with its id: reading from a pack alone does not do that.
   * Throws `repository_damaged` when it is missing or broken.
   */
  async readProven(gitdir: string, oid: string): Promise<ObjectContent> {
    const { type, content, pack } = await this.readContent(gitdir, oid);
    if (pack !== null && (await wrapObject(type, content)).oid !== oid) throw damagedRepository();
    return { type, content };
  }

  /**
   * A parsed commit or tag. Null when the object is unbroken but has another type, or is malformed. Throws
   * `repository_damaged` when it is missing or broken.
   */
  async readParsed<T extends keyof ParsedTypes>(
    gitdir: string,
    oid: string,
    type: T,
  ): Promise<ParsedTypes[T] | null> {
    const parse = async () => {
      const read = await this.readTwice(gitdir, (cache) => this.readByLibrary(gitdir, oid, 'parsed', cache));
      return read.type === type ? (read.object as ParsedTypes[T]) : null;
    };
    try {
      return await parse();
    } catch {
      // isomorphic-git throws the same errors at an object that it cannot read and at one that it cannot parse.
      await this.readContent(gitdir, oid);
    }
    return parse().catch((error) => {
      // Only a fault of the object itself may count against it, since the answer is remembered for good.
      if (error instanceof Error && error.cause instanceof Errors.NotFoundError) throw error;
      return null;
    });
  }

  /** Writes a blob or tree and flushes it, unless the repository holds an unbroken one already. Returns its id. */
  async write(gitdir: string, type: 'blob' | 'tree', content: Uint8Array): Promise<string> {
    return this.writes(async () => {
      const object = await wrapObject(type, content);
      if (!(await this.holds(gitdir, object.oid))) await this.put(gitdir, object);
      return object.oid;
    });
  }

  /** Writes a commit and flushes it. Returns its id. It is not looked for first: it holds the time of its making. */
  async writeCommit(gitdir: string, commit: NewCommit): Promise<string> {
    return this.put(gitdir, await wrapObject('commit', Buffer.from(printCommit(commit))));
  }

  /** Writes an annotated tag and flushes it. Returns its id. It is not looked for first, like a commit. */
  async writeTag(gitdir: string, tag: NewTag): Promise<string> {
    return this.put(gitdir, await wrapObject('tag', Buffer.from(printTag(tag))));
  }

  private async put(gitdir: string, object: WrappedObject): Promise<string> {
    const { oid } = object;
    // isomorphic-git's own deflate takes half a millisecond longer for the smallest object. It passes what is deflated
    // already to the file system untouched, so a large object may be a list of pieces, which take time to be joined.
    const deflated = (await deflateObject(object)) as unknown as Uint8Array;
    return writeObject({ fs: this.client, gitdir, oid, format: 'deflated', object: deflated });
  }

  /**
   * Whether the repository holds an unbroken object of this id, which then looks new to a `git gc`. A loose object that
   * a power cut truncated under another program is removed: nobody can use it.
   */
  private async holds(gitdir: string, oid: string): Promise<boolean> {
    const loose = await this.fs.freshen(loosePath(gitdir, oid));
    // isomorphic-git has this one built in, so reading it does not tell whether it is in the repository.
    if (oid === EMPTY_TREE) return loose;
    try {
      const { pack } = await this.readOnce(gitdir, oid, this.packs.of(gitdir), true);
      // Git does the same: a gc drops what no ref leads to from a pack that looks old.
      return pack === null || (await this.fs.freshen(join(gitdir, pack)));
    } catch (error) {
      if (errnoOf(error) !== undefined) throw error;
      if (loose) await this.fs.unlink(loosePath(gitdir, oid));
      return false;
    }
  }

  private readContent(gitdir: string, oid: string): Promise<ReadContent> {
    return this.readTwice(gitdir, (cache) => this.readOnce(gitdir, oid, cache));
  }

  /** Tries a read twice before it fails: a gc may have moved the object from one pack to another meanwhile. */
  private async readTwice<T>(gitdir: string, readOnce: (cache: object) => Promise<T>): Promise<T> {
    try {
      return await readOnce(this.packs.of(gitdir));
    } catch {
      await sleep(PAUSE_BEFORE_RETRY);
    }
    try {
      // The second read has its own cache, so that the other objects keep theirs when this one is damaged.
      const read = await readOnce({});
      this.packs.drop(gitdir);
      return read;
    } catch (error) {
      throw await this.explain(gitdir, error);
    }
  }

  private async readOnce(gitdir: string, oid: string, cache: object, isNow = false): Promise<ReadContent> {
    const loose = oid === EMPTY_TREE ? null : await readLooseObject(this.fs, gitdir, oid, isNow);
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
    const read = await readObject({ fs: this.client, gitdir, oid, format, cache });
    if (read.source?.endsWith('.pack')) this.packs.count(gitdir, cache, sizeOf(read));
    return read;
  }

  private async explain(gitdir: string, error: unknown): Promise<Error> {
    if ((await unlessAbsent(this.fs.lstat(gitdir), null)) === null) return missingRepository(error);
    const errno = errnoOf(error);
    return errno === undefined || errno === 'ENOENT' ? damagedRepository(error) : toStoreError(error);
  }
}

/** The file system in the form that isomorphic-git expects. */
function clientOf(fs: AtomicFs): PromiseFsClient {
  const refuse = () => Promise.reject(new Error('isomorphic-git must not remove files or follow links here'));
  const promises = {
    // It calls this without arguments each time it is given a file system, to see whether the methods make promises.
    readFile: async (path?: string) => (path === undefined ? null : fs.readFile(path)),
    writeFile: (path: string, data: Uint8Array) => fs.writeFile(path, data),
    // Called after a failed write, before it tries once more.
    mkdir: (path: string) => fs.makeFolder(path),
    readdir: async (path: string) => (await fs.readdir(path)).map((entry) => entry.name),
    // It asks for the repository's folder, where this answer changes nothing, and for an object that it is to write. An
    // object that exists must be written again: it may be broken, or so old that git gc is about to drop it.
    stat: () => Promise.reject(ABSENT),
    lstat: (path: string) => fs.lstat(path),
    unlink: refuse,
    rmdir: refuse,
    readlink: refuse,
    symlink: refuse,
  };
  return { promises };
}

/** Whether a `repository_damaged` was thrown because an object is absent, and not because it is broken. */
export function isMissingObject(error: HawserError): boolean {
  return error.cause instanceof Errors.NotFoundError;
}

/** About how many bytes isomorphic-git keeps of an object in its cache: the content and some hundred for the entry. */
function sizeOf(read: ReadObjectResult): number {
  const content = read.object;
  return 200 + (content instanceof Uint8Array ? content.byteLength : 300);
}

/** The text of a commit as Git hashes it, see gitformat-commit. */
export function printCommit({ tree, parent, author, committer, message }: NewCommit): string {
  const parents = parent.map((oid) => `parent ${oid}\n`).join('');
  const people = `author ${printPerson(author)}\ncommitter ${printPerson(committer)}\n`;
  return `tree ${tree}\n${parents}${people}\n${printMessage(message)}`;
}

/** The text of an annotated tag as Git hashes it, see git-mktag. */
export function printTag({ object, type, tag, tagger, message }: NewTag): string {
  const head = `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${printPerson(tagger)}\n`;
  return `${head}\n${printMessage(message)}`;
}

/** A message as stock git writes it: without carriage returns, and with one line feed at the end. */
function printMessage(message: string): string {
  return `${message.replaceAll('\r', '').replace(/^\n+|\n+$/g, '')}\n`;
}

function printPerson({ name, email, timestamp, timezoneOffset }: CommitObject['author']): string {
  return `${name} <${email}> ${timestamp} ${printOffset(timezoneOffset)}`;
}

/** @param minutes from local time to UTC, so a zone east of Greenwich is negative and written with `+` */
function printOffset(minutes: number): string {
  // UTC is 0 and is written +0000. Git also has -0000, which is read as -0.
  const sign = minutes > 0 || Object.is(minutes, -0) ? '-' : '+';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${sign}${String(hours).padStart(2, '0')}${String(rest).padStart(2, '0')}`;
}
