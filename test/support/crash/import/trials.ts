/** Kills imports, with and without power cuts, and lets each come to its end. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WrittenSite } from '../../opendsc/write.ts';
import type { TestDatabase } from '../../postgres.ts';
import type { Passings } from '../disk-record.ts';
import type { Doom } from '../failpoints.ts';
import type { Random } from '../random.ts';
import { checkEnd, type Reference } from './checks.ts';
import { readEnding } from './ending.ts';
import { Importing } from './importing.ts';

/** At a failpoint, or so many milliseconds after the start. Chance decides whether it is a power cut, unless that is given. */
export type Death = (Doom | { after: number }) & { isCut?: boolean };

/** What a power cut takes is known without a disk, so the folders may be in memory, where nothing has to be waited for. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Each keeps about one core busy. */
const LANES = 2;
/** So often an import is killed at most before it may come to its end. */
const MOST_DEATHS = 4;

interface Options {
  source: WrittenSite;
  random: Random;
  /** Makes a database of PostgreSQL for each import; absent for SQLite. */
  newDatabase?: () => Promise<TestDatabase>;
}

export class Trials {
  /** How often an import passes each failpoint. */
  passings: Passings = new Map();
  /** How many milliseconds an import takes. */
  duration = 0;
  /** The failpoints at which an import was killed. */
  readonly points = new Set<string>();
  kills = 0;
  /** How many deaths were power cuts, and how many changes were not flushed at them. */
  cuts = 0;
  atStake = 0;
  private readonly folder = mkdtempSync(join(BASE, 'hawser-imports-'));
  private readonly options: Options;
  private reference: Reference | undefined;
  private left: Death[] = [];
  private made = 0;

  constructor(options: Options) {
    this.options = options;
  }

  /** Plays an import that nothing disturbs, with which the others are compared. */
  async begin(): Promise<Reference> {
    const since = Date.now();
    return this.withTarget(async (importing) => {
      const report = await importing.finish();
      this.duration = Date.now() - since;
      this.passings = importing.record.takePassings();
      const reference = { since, report, ending: await readEnding(importing.config, since) };
      await checkEnd(importing, reference, { report, cuts: 0 });
      this.reference = reference;
      return reference;
    });
  }

  /**
   * Kills imports until each death has happened, some of them more than once, and checks what becomes of each.
   * @param given lists of the deaths of one import
   * @param others are dealt out to imports by chance
   */
  async play(given: readonly (readonly Death[])[], others: readonly Death[]): Promise<void> {
    const lists = [...given];
    this.left = [...others];
    const live = async () => {
      for (
        let deaths = lists.shift() ?? this.deal();
        deaths.length > 0;
        deaths = lists.shift() ?? this.deal()
      )
        await this.playOne(deaths);
    };
    const outcomes = await Promise.allSettled(Array.from({ length: LANES }, live));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Removes the source too. Call this where nothing was found that somebody has to look at. */
  remove(): void {
    rmSync(this.folder, { recursive: true });
    rmSync(this.options.source.files, { recursive: true });
  }

  /** At a failpoint that is chosen by chance, so that one that is passed often is chosen often. */
  chance(): Doom {
    const all = [...this.passings.values()].reduce((sum, times) => sum + times, 0);
    const [first = ''] = this.passings.keys();
    return { point: first, passing: 1, later: this.options.random.below(all - 1) };
  }

  private deal(): readonly Death[] {
    const [first, ...more] = this.left.splice(0, 1 + this.options.random.below(MOST_DEATHS));
    return first === undefined ? [] : [first, ...more.map(sooner)];
  }

  private playOne(deaths: readonly Death[]): Promise<void> {
    return this.withTarget(async (importing) => {
      try {
        let cuts = 0;
        for (const death of deaths) cuts += await this.die(importing, death);
        const report = await importing.finish();
        if (this.reference === undefined) throw new Error('there is nothing to compare with');
        await checkEnd(importing, this.reference, { report, cuts });
      } catch (error) {
        // The other lane ends too.
        this.left = [];
        const where = `killed at ${JSON.stringify(deaths)}, left in ${importing.folder}`;
        throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
      }
    });
  }

  /** @returns how many power cuts this death was: 0 or 1 */
  private async die(importing: Importing, death: Death): Promise<number> {
    const { random, newDatabase } = this.options;
    const process = importing.launch('point' in death ? death : null);
    if ('after' in death) {
      await Promise.race([sleep(death.after), process.ended]);
      process.child.kill('SIGKILL');
    }
    const { code, stderr } = await process.ended;
    importing.record.takePassings();
    if (code === 0) return this.missed(death);
    if (code !== null) throw new Error(`the import ended with ${code}: ${stderr}`);
    this.kills += 1;
    if ('point' in death && !death.later) this.points.add(death.point);
    // With PostgreSQL the folder is a cache.
    const { isCut = newDatabase === undefined && random.below(2) === 0 } = death;
    if (!isCut) return 0;
    this.cuts += 1;
    this.atStake += importing.record.cutPower(random);
    return 1;
  }

  /** The import came to its end before, as it had little left to do. Another one is killed, sooner. */
  private missed(death: Death): number {
    if ('point' in death) this.left.push({ ...death, passing: 1, later: Math.floor((death.later ?? 0) / 2) });
    return 0;
  }

  /** The folder of a target stays where `work` throws. */
  async withTarget<T>(work: (importing: Importing) => Promise<T>): Promise<T> {
    const { source, newDatabase } = this.options;
    const database = await newDatabase?.();
    this.made += 1;
    const importing = new Importing(join(this.folder, String(this.made)), source, database?.url ?? null);
    const result = await work(importing);
    rmSync(importing.folder, { recursive: true });
    await database?.drop();
    return result;
  }
}

/** An import that goes on after another one passes each failpoint less often. */
function sooner(death: Death): Death {
  return 'point' in death ? { ...death, passing: Math.ceil(death.passing / 3) } : death;
}
