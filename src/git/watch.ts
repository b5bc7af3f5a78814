/** Notices refs that other programs move on the disk. It looks at every loaded repository once a second. */

/** Milliseconds between two slices of a round. */
const TICK = 50;
/** Milliseconds for which a slice may block the process. */
const SLICE = 2;
/** Milliseconds between the starts of two rounds, at least. */
const ROUND = 1_000;

export interface Watched {
  /** Reading it costs four system calls and no promise. */
  readonly stale: boolean;
}

export class Watch<T extends Watched> {
  private readonly loaded: () => Iterator<T>;
  private readonly refresh: (repository: T) => void;
  private timer: NodeJS.Timeout | undefined;
  private round: Iterator<T> | undefined;
  private roundStarted = Number.NEGATIVE_INFINITY;

  /**
   * @param loaded lists the repositories that are in memory now
   * @param refresh is called for each one that is stale, and must not throw
   */
  constructor(loaded: () => Iterator<T>, refresh: (repository: T) => void) {
    this.loaded = loaded;
    this.refresh = refresh;
  }

  start(): void {
    this.timer ??= setInterval(() => this.checkSlice(), TICK).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private checkSlice(): void {
    const start = performance.now();
    if (!this.round) {
      if (start - this.roundStarted < ROUND) return;
      this.round = this.loaded();
      this.roundStarted = start;
    }
    while (performance.now() - start < SLICE) {
      const next = this.round.next();
      if (next.done) {
        this.round = undefined;
        return;
      }
      if (next.value.stale) this.refresh(next.value);
    }
  }
}
