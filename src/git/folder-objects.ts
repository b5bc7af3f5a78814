/**
 * Objects in the folders of repositories. isomorphic-git writes them and reads those in packs, all through our file
 * system; loose-objects.ts reads loose ones.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PromiseFsClient, type ReadObjectResult, readObject, writeObject } from 'isomorphic-git';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, errnoOf, missingRepository, toStoreError, unlessAbsent } from './disk-errors.ts';
import {
  deflateObject,
  deflateStream,
  loosePath,
  type ObjectContent,
  readLooseObject,
  type StreamedObject,
  type WrappedObject,
} from './loose-objects.ts';
import type { ObjectBackend, ReadContent } from './object-backend.ts';
import type { PackCaches } from './object-caches.ts';

const PAUSE_BEFORE_RETRY = 20;
const ABSENT = Object.assign(new Error('ENOENT: not looked for'), { code: 'ENOENT' });
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

interface PackedContent extends ObjectContent {
  /** The pack that holds the object, relative to the repository; null for a loose object. */
  pack: string | null;
}

export class FolderObjects implements ObjectBackend {
  private readonly fs: AtomicFs;
  private readonly client: PromiseFsClient;
  private readonly packs: PackCaches;

  constructor(fs: AtomicFs, packs: PackCaches) {
    this.fs = fs;
    this.client = clientOf(fs);
    this.packs = packs;
  }

  async read(gitdir: string, oid: string): Promise<ReadContent> {
    const { pack, ...read } = await this.readTwice(gitdir, (cache) => this.readOnce(gitdir, oid, cache));
    return { ...read, isProven: pack === null };
  }

  async writeIfAbsent(gitdir: string, object: WrappedObject): Promise<void> {
    if (!(await this.holds(gitdir, object.oid))) await this.write(gitdir, object);
  }

  async write(gitdir: string, object: WrappedObject): Promise<void> {
    const { oid } = object;
    // isomorphic-git's own deflate takes half a millisecond longer for the smallest object. It passes what is deflated
    // already to the file system untouched, so a large object may be a list of pieces, which take time to be joined.
    const deflated = (await deflateObject(object)) as unknown as Uint8Array;
    await writeObject({ fs: this.client, gitdir, oid, format: 'deflated', object: deflated });
  }

  /** It is not looked for first: whether one that is there is unbroken is told by all of its bytes. */
  async writeStream(gitdir: string, object: StreamedObject): Promise<void> {
    await this.fs.writeStream(loosePath(gitdir, object.oid), deflateStream(object));
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

  private async readOnce(gitdir: string, oid: string, cache: object, isNow = false): Promise<PackedContent> {
    const loose = oid === EMPTY_TREE ? null : await readLooseObject(this.fs, gitdir, oid, isNow);
    if (loose) return { ...loose, pack: null };
    const read = await this.readByLibrary(gitdir, oid, cache);
    if (read.format !== 'content') throw damagedRepository();
    const { type, object, source } = read;
    const content = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
    return { type, content, pack: source?.endsWith('.pack') ? source : null };
  }

  private async readByLibrary(gitdir: string, oid: string, cache: object): Promise<ReadObjectResult> {
    const read = await readObject({ fs: this.client, gitdir, oid, format: 'content', cache });
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

/** About how many bytes isomorphic-git keeps of an object in its cache: the content and some hundred for the entry. */
function sizeOf(read: ReadObjectResult): number {
  const content = read.object;
  return 200 + (content instanceof Uint8Array ? content.byteLength : 300);
}
