/** Notices refs that other programs move on the disk: a look at every loaded repository within a second. */

/** How often a slice is looked at, how long it may hold up the process, and the least time of a whole round. */
const TICK = 50;
const SLICE = 2;
const ROUND = 1_000;

export interface Watched {
  /** Costs four system calls and no promise. */
  readonly stale: boolean;
}

export class Watch<T extends Watched> {
  private readonly loaded: () => Iterator<T>;
  private readonly refresh: (repository: T) => void;
  private timer: NodeJS.Timeout | undefined;
  private round: Iterator<T> | undefined;
  private roundStarted = Number.NEGATIVE_INFINITY;

  /** `loaded` gives what is in memory now; `refresh` is called for what is stale and must not throw. */
  constructor(loaded: () => Iterator<T>, refresh: (repository: T) => void) {
    this.loaded = loaded;
    this.refresh = refresh;
  }

  start(): void {
    this.timer ??= setInterval(() => this.lookAtSlice(), TICK).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private lookAtSlice(): void {
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
