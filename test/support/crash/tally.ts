/** What all rounds together have come to, and what is left to be hit. */

import { type Doom, isOfStart } from './failpoints.ts';
import type { Random } from './random.ts';
import type { Passings } from './server-process.ts';

export class Tally {
  rounds = 0;
  writes = 0;
  checks = 0;
  /** Deaths that were power cuts, and changes that were not flushed at them. */
  cuts = 0;
  atStake = 0;
  /** Kills by failpoint, and from outside. */
  readonly kills = new Map<string, number>();
  outside = 0;
  /** How often each failpoint was aimed at: some are so rare that most lives do not come to them. */
  private readonly aims = new Map<string, number>();
  /** How often a life has passed each failpoint, the last time it passed it at all. */
  private readonly seen = new Map<string, number>();

  /** One of the failpoints that were aimed at least often; null while none is known. */
  chooseDoom(random: Random, starting: boolean): Doom | null {
    const points = [...this.seen.keys()].filter((point) => isOfStart(point) === starting);
    const fewest = Math.min(...points.map((point) => timesOf(this.aims, point)));
    const point = random.pick(points.filter((one) => timesOf(this.aims, one) <= fewest + 1));
    return point === undefined ? null : { point, passing: 1 + random.below(this.seen.get(point) ?? 1) };
  }

  note(passings: Passings, doom: Doom | null): void {
    for (const [point, times] of passings) this.seen.set(point, times);
    if (doom) this.aims.set(doom.point, timesOf(this.aims, doom.point) + 1);
    if (doom && passings.get(doom.point) === doom.passing)
      this.kills.set(doom.point, timesOf(this.kills, doom.point) + 1);
    else this.outside += 1;
  }

  get points(): number {
    return this.seen.size;
  }
}

function timesOf(counts: ReadonlyMap<string, number>, point: string): number {
  return counts.get(point) ?? 0;
}
