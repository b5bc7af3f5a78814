/** Tells when something comes too slowly: fewer bytes than a bound over a window of time that moves on. */

export interface MinimumRateOptions {
  /** Its length in ticks; whoever uses it gives one tick per second. */
  window: number;
  /** That must come within any window. */
  bytes: number;
}

export class MinimumRate {
  private readonly options: MinimumRateOptions;
  private total = 0;
  /** What had come at each of the last ticks, the oldest first, back to the beginning of the window. */
  private readonly before = [0];

  constructor(options: MinimumRateOptions) {
    this.options = options;
  }

  count(bytes: number): void {
    this.total += bytes;
  }

  /** To be called once a second. @returns whether too little came within the window that ends now */
  tick(): boolean {
    this.before.push(this.total);
    const { window, bytes } = this.options;
    if (this.before.length <= window) return false;
    return this.total - (this.before.shift() ?? 0) < bytes;
  }
}
