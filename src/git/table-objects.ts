/**
 * Objects in PostgreSQL. Large ones that were read or written lie in the cache of this server too, in the files of loose
 * objects, so that each is fetched once. The cache may be deleted at any time, and nothing of it is believed without its
 * hash.
 */

import { join } from 'node:path';
import { Errors } from 'isomorphic-git';
import { SMALL_OBJECT, type StoredObject } from '../db/git-tables.ts';
import { hashInBlocks } from '../lib/hash.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { makeCacheFolder } from './cache-root.ts';
import { damagedRepository } from './disk-errors.ts';
import {
  deflateObject,
  deflateStream,
  inflateObject,
  loosePath,
  readLooseObject,
  type StreamedObject,
  type WrappedObject,
} from './loose-objects.ts';
import type { ObjectBackend, ReadContent } from './object-backend.ts';
import type { SharedRepositories } from './shared-repositories.ts';

export class TableObjects implements ObjectBackend {
  private readonly shared: SharedRepositories;
  private readonly cache: AtomicFs;
  private readonly root: string;

  /** @param cache need not flush. In a process that only reads, it refuses to write, and nothing is cached. */
  constructor(shared: SharedRepositories, { cache, root }: { cache: AtomicFs; root: string }) {
    this.shared = shared;
    this.cache = cache;
    this.root = root;
  }

  async read(gitdir: string, oid: string): Promise<ReadContent> {
    // What is cached of a repository that was removed must not be answered any more.
    await this.shared.idOf(gitdir);
    // The first clone brings small ones too.
    const cached = await readLooseObject(this.cache, gitdir, oid).catch(() => null);
    if (cached !== null) return { ...cached, isProven: true };
    const stored = await this.fetch(gitdir, oid);
    const inflated = await inflateObject(stored.deflated).catch((error: unknown) => {
      throw damagedRepository(error);
    });
    if ((await hashInBlocks('sha1', inflated.bytes)) !== oid) throw damagedRepository();
    await this.keep(gitdir, stored);
    const { bytes, start } = inflated;
    return { type: stored.type, content: bytes.subarray(start), isProven: true };
  }

  /** PostgreSQL itself looks whether the object is there: what the cache holds says nothing of it. */
  async writeIfAbsent(gitdir: string, object: WrappedObject): Promise<void> {
    await this.write(gitdir, object);
  }

  async write(gitdir: string, object: WrappedObject): Promise<void> {
    const { oid, header, content } = object;
    const deflated = [await deflateObject(object)].flat();
    const type = header.toString('latin1', 0, header.indexOf(0x20));
    const stored = { oid, type, size: content.byteLength, deflated };
    await this.shared.tables.writeObject(await this.shared.idOf(gitdir), stored);
    await this.keep(gitdir, stored);
  }

  /** The cache gets it when it is read. */
  async writeStream(gitdir: string, object: StreamedObject): Promise<void> {
    const id = await this.shared.idOf(gitdir);
    await this.shared.tables.writeStream(id, { ...object, deflated: deflateStream(object) });
  }

  private async fetch(gitdir: string, oid: string): Promise<StoredObject> {
    const { shared } = this;
    const known = await shared.idOf(gitdir);
    const stored = await shared.reader.readObject(known, oid);
    if (stored !== null) return stored;
    const id = await shared.readIdOf(gitdir);
    const found = id === known ? null : await shared.reader.readObject(id, oid);
    if (found === null) throw damagedRepository(new Errors.NotFoundError(oid));
    return found;
  }

  /** A cache that cannot be written costs time alone. */
  private async keep(gitdir: string, { oid, size, deflated }: StoredObject): Promise<void> {
    const path = loosePath(gitdir, oid);
    try {
      // The results of checks lie in the folder too, and nobody else makes it before the first clone.
      const folder = join(gitdir, 'objects');
      if (this.cache.lstatNow(folder) === undefined) await makeCacheFolder(this.cache, this.root, folder);
      if (size <= SMALL_OBJECT || this.cache.lstatNow(path) !== undefined) return;
      await this.cache.writeFile(path, deflated);
    } catch {
      // The next reader asks PostgreSQL again.
    }
  }
}
