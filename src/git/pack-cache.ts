/**
 * isomorphic-git's `cache` objects, one per repository. Each holds whole packs, their indexes as maps and
 * every object read from them, without a bound of its own; here they are counted and bounded together.
 */

import { join } from 'node:path';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

/** An index on the disk has 32 bytes per object; as an array and a map of strings it takes about six times that. */
const INDEX_IN_MEMORY = 6;

interface Entry {
  /** What isomorphic-git fills; opaque. */
  readonly cache: object;
  readonly stamp: string;
  bytes: number;
}

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

  /** The repository's cache, a new one when its packs have changed since, as after `git gc`. */
  of(gitdir: string): object {
    const stamp = this.stampOf(gitdir);
    const known = this.entries.get(gitdir);
    if (known?.stamp === stamp) return known.cache;
    const entry = { cache: {}, stamp, bytes: 1 };
    this.entries.set(gitdir, entry);
    // Counted a moment later: reading is not held up, and a failure to count is met by the read itself.
    this.countPacks(gitdir, entry).catch(() => undefined);
    return entry.cache;
  }

  /** Tells that an object of so many bytes was read from a pack through the cache, which keeps it inflated. */
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

  /** An entry that has outgrown the whole budget is dropped by the LRU. */
  private grow(gitdir: string, entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.entries.set(gitdir, entry, { size: entry.bytes });
  }
}
