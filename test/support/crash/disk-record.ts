/** What a program under test has done to its disk, and what a power cut makes of it once the program is dead. */

import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { isOfStart } from './failpoints.ts';
import { readLines } from './journal.ts';
import { cutPower } from './power-cut.ts';
import type { Random } from './random.ts';
import { Unflushed } from './unflushed.ts';

/** How often one run of the program has passed each failpoint. */
export type Passings = ReadonlyMap<string, number>;

export class DiskRecord {
  /** The file into which the program writes. */
  readonly journal: string;
  /** The folder in which its disk keeps what may have to be restored. */
  readonly kept: string;
  private readonly unflushed: Unflushed;

  /** @param folder in which there is no record yet, on the file system of the repositories */
  constructor(folder: string) {
    this.journal = join(folder, 'journal');
    this.kept = join(folder, 'kept');
    mkdirSync(this.kept);
    this.unflushed = new Unflushed(this.kept);
  }

  /** Call this once after each run of the program. */
  takePassings(): Passings {
    const passings = new Map<string, number>();
    if (!existsSync(this.journal)) return passings;
    for (const line of readLines(readFileSync(this.journal, 'utf8'))) {
      if (line.do === 'pass') passings.set(line.point, (passings.get(line.point) ?? 0) + 1);
      else if (line.do === 'armed')
        for (const point of passings.keys()) isOfStart(point) || passings.delete(point);
      else this.unflushed.add(line);
    }
    this.unflushed.end();
    truncateSync(this.journal);
    return passings;
  }

  /**
   * Simulates a power cut on the dead program's folders.
   * @returns how many changes were not flushed, and could therefore be lost
   */
  cutPower(random: Random): number {
    return cutPower(this.unflushed, this.kept, random);
  }
}
