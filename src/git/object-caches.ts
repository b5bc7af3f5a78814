/** What is kept in memory of Git objects: isomorphic-git's caches of packs, and the size and hash of blobs. */

import { join } from 'node:path';
import pLimit from 'p-limit';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { hashInBlocks } from '../lib/hash.ts';
import { Pace } from '../lib/pace.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';
import type { BlobInfo } from './types.ts';

/** What an entry weighs beside its bytes, in bytes. */
const ENTRY = 200;

/** Contents by name, bounded by their bytes. */
export function contentCache(maxBytes: number): CountedCache<Buffer> {
  return new CountedCache({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ byteLength }) => byteLength + ENTRY,
  });
}

/** An index takes 32 bytes per object on the disk, and about six times that as an array and a map of strings. */
const INDEX_IN_MEMORY = 6;

interface Entry {
  /** Filled by isomorphic-git. */
  readonly cache: object;
  readonly stamp: string;
  bytes: number;
}

/**
 * isomorphic-git's `cache` objects, one per repository. Each holds whole packs, their indexes and every object read from
 * them, without a bound of its own. Here they are counted and bounded together.
 */
export class PackCaches {
  private readonly fs: AtomicFs;
  private readonly entries: CountedCache<Entry>;

  constructor(fs: AtomicFs, maxBytes: number) {
    this.fs = fs;
    this.entries = new CountedCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: ({ bytes }) => bytes,
    });
  }

  get facts(): CacheFacts {
    return this.entries.facts;
  }

  /** The cache of a repository. It is a new one when the packs have changed, as after `git gc`. */
  of(gitdir: string): object {
    const stamp = this.stampOf(gitdir);
    const known = this.entries.get(gitdir);
    if (known?.stamp === stamp) return known.cache;
    const entry = { cache: {}, stamp, bytes: 1 };
    this.entries.set(gitdir, entry);
    // The read does not wait for the count. What makes the count fail makes the read fail too.
    this.countPacks(gitdir, entry).catch(() => undefined);
    return entry.cache;
  }

  /** Adds the bytes of an object that was read from a pack through the cache, which keeps the inflated object. */
  count(gitdir: string, cache: object, bytes: number): void {
    const entry = this.entries.peek(gitdir);
    if (entry?.cache === cache) this.grow(gitdir, entry, bytes);
  }

  drop(gitdir: string): void {
    this.entries.delete(gitdir);
  }

  private stampOf(gitdir: string): string {
    const stats = this.fs.lstatNow(join(gitdir, 'objects/pack'));
    return stats ? `${stats.ino}:${stats.mtimeNs}` : '';
  }

  private async countPacks(gitdir: string, entry: Entry): Promise<void> {
    const folder = join(gitdir, 'objects/pack');
    let bytes = 0;
    for (const { name } of await unlessAbsent(this.fs.readdir(folder), [])) {
      const weight = name.endsWith('.pack') ? 1 : name.endsWith('.idx') ? INDEX_IN_MEMORY : 0;
      if (weight > 0) bytes += weight * (await this.fs.lstat(join(folder, name))).size;
    }
    if (this.entries.peek(gitdir) === entry) this.grow(gitdir, entry, bytes);
  }

  /** The LRU drops an entry that has outgrown the whole budget. */
  private grow(gitdir: string, entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.entries.set(gitdir, entry, { size: entry.bytes });
  }
}

/** About how many bytes an entry takes: two ids as text, a number, and what the cache adds. */
const ENTRY_BYTES = 400;
/** A version may have thousands of files, which are all asked for at once. */
const CONCURRENT_READS = 8;

/** Size and hash of blobs by their ids, which are asked for with each file of a version. */
export class BlobInfos {
  private readonly reads = pLimit(CONCURRENT_READS);
  private readonly infos: CountedCache<BlobInfo>;

  constructor(cacheBytes: number) {
    this.infos = new CountedCache({ max: Math.max(1, Math.floor(cacheBytes / ENTRY_BYTES)) });
  }

  get facts(): CacheFacts {
    return { ...this.infos.facts, bytes: this.infos.size * ENTRY_BYTES };
  }

  /** Those of several blobs, in their order. */
  async ofAll(
    blobs: readonly { oid: string }[],
    read: (oid: string) => Promise<Buffer>,
  ): Promise<BlobInfo[]> {
    const infos: BlobInfo[] = [];
    const pace = new Pace();
    await forEachOf(blobs.entries(), CONCURRENT_READS, async ([at, { oid }]) => {
      infos[at] = await this.of(oid, () => read(oid));
      if (pace.isDue) await pace.rest();
    });
    return infos;
  }

  async of(oid: string, read: () => Promise<Buffer>): Promise<BlobInfo> {
    const known = this.infos.get(oid);
    if (known) return known;
    const content = await this.reads(read);
    const info = { size: content.byteLength, sha256: await hashInBlocks('sha256', content) };
    this.infos.set(oid, info);
    return info;
  }
}
