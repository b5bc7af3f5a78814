/**
 * A bounded map that forgets the entries that were not used for longest, many at a time. Other caches keep all entries in
 * the order of their use, so each look-up writes to many places in memory, which takes some µs of a poll.
 */
export class RecentMap<K, V extends object> {
  private readonly half: number;
  private recent = new Map<K, V>();
  private older = new Map<K, V>();

  /** @param half is the number of recent entries that are always kept; twice as many are kept at most */
  constructor(half: number) {
    this.half = half;
  }

  get(key: K): V | undefined {
    return this.recent.get(key) ?? this.revive(key);
  }

  set(key: K, value: V): void {
    if (this.recent.size >= this.half && !this.recent.has(key)) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.older.delete(key);
    this.recent.set(key, value);
  }

  delete(key: K): void {
    this.recent.delete(key);
    this.older.delete(key);
  }

  clear(): void {
    this.recent.clear();
    this.older.clear();
  }

  get size(): number {
    return this.recent.size + this.older.size;
  }

  private revive(key: K): V | undefined {
    const value = this.older.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}
