/** The results of all rounds together, and the failpoints that have not been used yet. */

import type { Passings } from './disk-record.ts';
import { type Doom, isOfStart } from './failpoints.ts';
import type { Random } from './random.ts';

export class Tally {
  rounds = 0;
  writes = 0;
  checks = 0;
  /** The number of deaths that were power cuts, and of changes that were not flushed at these cuts. */
  cuts = 0;
  atStake = 0;
  /** The number of kills by failpoint, and from outside. */
  readonly kills = new Map<string, number>();
  outside = 0;
  /** How often each failpoint was chosen. Some are so rare that most runs of the server do not reach them. */
  private readonly aims = new Map<string, number>();
  /** How often the last run that passed a failpoint has passed it. */
  private readonly seen = new Map<string, number>();

  /** Chooses one of the failpoints that were chosen least often; null while none is known. */
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
