/** Brings together what all workers have counted, for the one that was asked. */

import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';
import type { Holder } from './lock-keeper.ts';

interface Gathering {
  asker: Holder;
  missing: Set<Holder>;
  all: MetricsOfProcess[];
}

export class Gatherer {
  private readonly gatherings = new Map<string, Gathering>();

  /** @param others all workers but the asker */
  begin(id: string, asker: Holder, others: readonly Holder[]): void {
    const gathering = { asker, missing: new Set(others), all: [] };
    this.gatherings.set(id, gathering);
    for (const other of others) other.send({ type: 'measure', id });
    this.settle(id, gathering);
  }

  take(id: string, from: Holder, values: MetricsOfProcess): void {
    const gathering = this.gatherings.get(id);
    if (!gathering?.missing.delete(from)) return;
    gathering.all.push(values);
    this.settle(id, gathering);
  }

  /** After the end of a worker nobody waits for it. */
  forget(holder: Holder): void {
    for (const [id, gathering] of this.gatherings) {
      if (gathering.asker === holder) this.gatherings.delete(id);
      else if (gathering.missing.delete(holder)) this.settle(id, gathering);
    }
  }

  private settle(id: string, { asker, missing, all }: Gathering): void {
    if (missing.size > 0) return;
    this.gatherings.delete(id);
    asker.send({ type: 'gathered', id, all });
  }
}
