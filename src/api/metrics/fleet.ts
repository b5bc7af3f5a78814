/** What the metrics tell of the fleet: small facts read at each scrape, counts over all nodes at most once a minute. */

import type { Database } from '../../db/open.ts';
import { MINUTE } from '../../lib/clock.ts';
import type { CertificateTerm, FleetFacts } from '../../lib/metrics/fleet-metrics.ts';
import { readServerSettings } from '../settings/queries.ts';
import {
  countCertificatesIn,
  countNodesByStatus,
  countStaleIn,
  listLastCleanups,
  readGeneration,
  type Slice,
} from './queries.ts';

type Counts = Pick<FleetFacts, 'stale' | 'certificates' | 'countedAt'>;

/**
 * To count takes a look at every node: with 100,000 of them some 0.2 s of the processor, in slices of 1 ms between
 * which polls are answered. However often somebody asks, that is spent no more than once in this time.
 */
const COUNTS_HOLD = MINUTE;

export class FleetReader {
  private readonly database: Database;
  private counts: { begunAt: number; made: Promise<Counts> } | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  async read(now: number): Promise<FleetFacts> {
    const { read } = this.database;
    return {
      nodes: await countNodesByStatus(read),
      generation: await readGeneration(read),
      cleanups: await listLastCleanups(read),
      ...(await this.currentCounts(now)),
    };
  }

  /** Those who ask meanwhile wait for the same counting; a failure is not kept. */
  private currentCounts(now: number): Promise<Counts> {
    if (this.counts && now - this.counts.begunAt < COUNTS_HOLD) return this.counts.made;
    const counts = { begunAt: now, made: this.count(now) };
    this.counts = counts;
    counts.made.catch(() => {
      if (this.counts === counts) this.counts = undefined;
    });
    return counts.made;
  }

  private async count(now: number): Promise<Counts> {
    const { read } = this.database;
    const { stalenessMultiplier } = await readServerSettings(read);
    let stale = 0;
    const rule = { now, stalenessMultiplier };
    for await (const found of slices((after) => countStaleIn(read, rule, after))) stale += found;
    const certificates = { expired: 0, under_7: 0, under_30: 0, under_90: 0, more: 0 };
    for await (const found of slices((after) => countCertificatesIn(read, now, after)))
      for (const [term, count] of Object.entries(found)) certificates[term as CertificateTerm] += count;
    return { stale, certificates, countedAt: now };
  }
}

/** From the first row of a table to its last, with room for requests between the slices. */
async function* slices<T>(countAfter: (place: number) => Promise<Slice<T>>): AsyncGenerator<T> {
  for (let after = 0; ; ) {
    const { last, counted } = await countAfter(after);
    if (last === null) return;
    yield counted;
    after = last;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
