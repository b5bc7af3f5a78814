/** A least-recently-used cache that counts how often it had what it was asked for. */

import { LRUCache } from 'lru-cache';

export interface CacheFacts {
  entries: number;
  /** As the cache's own sizes count them; 0 of a cache that is bounded by its number of entries. */
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
