/** Makes the instruments of one registry; each group of metrics is made of this. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The value of a label with the amount that is shown for it. */
export type Reading = readonly [label: string, amount: number];

export class Instruments {
  protected readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** Counts what happens. */
  protected counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Counts values, such as durations in seconds, by their size. */
  protected histogram(name: string, help: string, buckets: number[], ...labelNames: string[]): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.registry] });
  }

  /** A value that is set. */
  protected gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  /** A value that is read at every scrape. */
  protected reading(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name, help, registers: [this.registry] },
      collect() {
        this.set(read());
      },
    });
  }

  /** Values by one label, read at every scrape. */
  protected readings(name: string, help: string, label: string, read: () => readonly Reading[]): void {
    new Gauge({
      ...{ name, help, labelNames: [label], registers: [this.registry] },
      collect() {
        for (const [value, amount] of read()) this.set({ [label]: value }, amount);
      },
    });
  }

  /** Counts that are kept elsewhere, by one label, read at every scrape. */
  protected countsOf(name: string, help: string, label: string, read: () => readonly Reading[]): void {
    new Counter({
      ...{ name, help, labelNames: [label], registers: [this.registry] },
      collect() {
        this.reset();
        for (const [value, amount] of read()) this.inc({ [label]: value }, amount);
      },
    });
  }
}
