/** Plays many rounds in parallel lanes. */

import { Lane, type NewDatabase } from './lane.ts';
import { buildProgram, removePrograms } from './programs.ts';
import { Random } from './random.ts';
import { Tally } from './tally.ts';

/** Each lane keeps about one core busy. */
const LANES = 2;
const ROUNDS_PER_LIFE = 15;

export interface RoundsOptions {
  rounds: number;
  seed: number;
  /** After this many minutes no new folder is begun, even if rounds are left. */
  minutes?: number;
  /** Makes a database for each folder; null for SQLite. */
  newDatabase?: NewDatabase | null;
  /** Is called after each folder. */
  onProgress?: (tally: Tally) => void;
}

/** @throws Error with the seed, the round and the folder that it left, at the first loss */
export async function playRounds({
  rounds,
  seed,
  minutes,
  newDatabase = null,
  onProgress,
}: RoundsOptions): Promise<Tally> {
  await buildProgram('server');
  const end = minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + minutes * 60_000;
  const tally = new Tally();
  let left = rounds;
  let failed = false;
  const play = async (number: number): Promise<void> => {
    const lane = new Lane(new Random(seed + number), tally, newDatabase);
    let played = 0;
    try {
      while (left > 0 && !failed && performance.now() < end) {
        const life = Math.min(ROUNDS_PER_LIFE, left);
        left -= life;
        await lane.live(life, () => {
          played += 1;
        });
        onProgress?.(tally);
      }
    } catch (error) {
      failed = true;
      const where = `seed ${seed}, lane ${number}, its round ${played}, left in ${lane.folder}`;
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: LANES }, (_, number) => play(number)));
  removePrograms();
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return tally;
}
