/** Detects a stream that is too slow: one with fewer bytes than a bound within a sliding window of time. */

export interface MinimumRateOptions {
  /** The length of the window in ticks. The caller gives one tick per second. */
  window: number;
  /** The number of bytes that must come within any window. */
  bytes: number;
}

/** 1 KiB a second, over any 30 s. */
export const KIB_A_SECOND: MinimumRateOptions = { window: 30, bytes: 30 * 1024 };

export class MinimumRate {
  private readonly options: MinimumRateOptions;
  private total = 0;
  /** The totals at the last ticks, the oldest first, back to the beginning of the window. */
  private readonly before = [0];

  constructor(options: MinimumRateOptions) {
    this.options = options;
  }

  count(bytes: number): void {
    this.total += bytes;
  }

  /** Must be called once a second. @returns whether too little came within the window that ends now */
  tick(): boolean {
    this.before.push(this.total);
    const { window, bytes } = this.options;
    if (this.before.length <= window) return false;
    return this.total - (this.before.shift() ?? 0) < bytes;
  }
}
