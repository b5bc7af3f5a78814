/** Counts by key, such as the open calls of each node. A key whose count is zero takes no memory. */
export class Tally {
  private readonly counts = new Map<string, number>();

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /** @returns the new count */
  add(key: string, change: number): number {
    const count = this.of(key) + change;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
    return count;
  }
}
