/** The counts of all rounds of chaos together. */

export class ChaosTally {
  /** Writes that were acknowledged. */
  writes = 0;
  /** States that were compared, at each server. */
  checks = 0;
  /** Clones that were checked. */
  clones = 0;
  /** Rounds by what was killed in them. */
  readonly kinds = new Map<string, number>();

  note(kind: string): void {
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
  }

  get rounds(): number {
    return [...this.kinds.values()].reduce((sum, times) => sum + times, 0);
  }
}
