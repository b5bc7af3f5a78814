/** What a run of the fleet has measured: how long each kind of request took, and which answers were wrong. */

/** Further faults are only counted, because one cause makes thousands of them. */
const KEPT_FAULTS = 5;

/** Latencies in milliseconds. */
export interface Latencies {
  kind: string;
  count: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

export class Measurements {
  requests = 0;
  faultCount = 0;
  /** The first faults, each with the answer in which it was found. */
  readonly faults: string[] = [];
  private readonly times = new Map<string, number[]>();

  /** Records a request or a handshake by its kind. */
  took(kind: string, milliseconds: number): void {
    const times = this.times.get(kind);
    if (times) times.push(milliseconds);
    else this.times.set(kind, [milliseconds]);
  }

  fault(who: string, error: unknown): void {
    this.faultCount += 1;
    if (this.faults.length >= KEPT_FAULTS) return;
    this.faults.push(`${who}: ${error instanceof Error ? error.message : String(error)}`);
  }

  latencies(): Latencies[] {
    return [...this.times].map(([kind, times]) => {
      const sorted = Float64Array.from(times).sort();
      const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
      return { kind, count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
    });
  }
}
