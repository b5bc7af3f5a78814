/** Plays rounds of chaos, some of them on each new cluster. */

import { Random } from '../crash/random.ts';
import { ownCluster } from '../postgres.ts';
import type { Blow } from './blows.ts';
import { ChaosLane } from './lane.ts';
import { ChaosTally } from './tally.ts';

/** The checks of everything take longer with each round, so the database is replaced now and then. */
const ROUNDS_PER_LIFE = 10;

export interface ChaosOptions {
  rounds: number;
  seed: number;
  servers: number;
  /** Milliseconds for which a server is frozen at most; 5 s at least. */
  longestFreeze: number;
  onRound?: (told: { round: number; kind: Blow['kind']; seconds: number; tally: ChaosTally }) => void;
}

/** @throws Error with the seed, the round and the folder that it left, at the first fault */
export async function playChaos({
  rounds,
  seed,
  servers,
  longestFreeze,
  onRound,
}: ChaosOptions): Promise<ChaosTally> {
  // What was acknowledged must be on the disk when all processes of PostgreSQL are killed.
  const own = await ownCluster({ fsync: true });
  const tally = new ChaosTally();
  try {
    const lane = new ChaosLane(own, new Random(seed), tally, { count: servers, longestFreeze });
    while (tally.rounds < rounds) {
      const life = Math.min(ROUNDS_PER_LIFE, rounds - tally.rounds);
      await lane.live(life, (kind, seconds) => onRound?.({ round: tally.rounds, kind, seconds, tally }));
    }
    return tally;
  } catch (error) {
    const where = `seed ${seed}, ${servers} servers, round ${tally.rounds + 1}`;
    throw new Error(`${where}, ${(error as Error).message}`, { cause: error });
  } finally {
    await own.cluster.remove();
  }
}
