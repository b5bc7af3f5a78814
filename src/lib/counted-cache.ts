/** A least-recently-used cache that counts its hits and misses. */

import { LRUCache } from 'lru-cache';

export interface CacheFacts {
  entries: number;
  /** The sum of the entries' sizes; 0 if the cache is bounded by the number of its entries. */
  bytes: number;
  hits: number;
  misses: number;
}

export class CountedCache<V extends object> extends LRUCache<string, V> {
  private hits = 0;
  private misses = 0;

  override get(key: string): V | undefined {
    const value = super.get(key);
    if (value === undefined) this.misses += 1;
    else this.hits += 1;
    return value;
  }

  get facts(): CacheFacts {
    return { entries: this.size, bytes: this.calculatedSize, hits: this.hits, misses: this.misses };
  }
}
