/**
 * Durations of requests by route, as a Prometheus histogram. Every poll pays for it, so a request costs a look into a
 * map and two additions; prom-client's own histogram makes an object and hashes the labels each time, some 1.5 µs.
 */

import type { Metric } from 'prom-client';

/** A route, or whatever stands for one; its identity is what counts. */
export interface RouteName {
  readonly method: string;
  /** The template, never the path of a request. */
  readonly path: string;
}

/** Seconds. A poll takes some 50 µs of the server's time, a fetch by git up to half an hour. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;
/** By the first digit of the status. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** What was counted of one route and one class of statuses. */
class Tally {
  /** Behind the last bound, what took longer than any. */
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += seconds;
  }
}

interface Sample {
  metricName: string;
  labels: Record<string, string>;
  value: number;
}

export class RouteTimings {
  private readonly name: string;
  private readonly help: string;
  private readonly routes = new Map<RouteName, (Tally | undefined)[]>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(route: RouteName, status: number, seconds: number): void {
    let tallies = this.routes.get(route);
    if (tallies === undefined) {
      tallies = CLASSES.map(() => undefined);
      this.routes.set(route, tallies);
    }
    const digit = Math.floor(status / 100);
    const index = digit < CLASSES.length ? digit : 0;
    const tally = tallies[index] ?? new Tally();
    tallies[index] = tally;
    tally.add(seconds);
  }

  /** As a registry of prom-client takes it, which asks a metric for its name and what `get` gives. */
  get metric(): Metric {
    const { name, help } = this;
    const get = async () => {
      return { name, help, type: 'histogram', aggregator: 'sum', values: [...this.samples()] };
    };
    return { name, get } as unknown as Metric;
  }

  private *samples(): Generator<Sample> {
    for (const [{ method, path }, tallies] of this.routes) {
      for (const [index, tally] of tallies.entries()) {
        const status = CLASSES[index] ?? 'none';
        if (tally) yield* this.samplesOf(tally, { route: path, method, status });
      }
    }
  }

  private *samplesOf({ counts, sum }: Tally, labels: Record<string, string>): Generator<Sample> {
    let total = 0;
    for (const [index, count] of counts.entries()) {
      total += count;
      const le = index < BOUNDS.length ? String(BOUNDS[index]) : '+Inf';
      yield { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total };
    }
    yield { metricName: `${this.name}_sum`, labels, value: sum };
    yield { metricName: `${this.name}_count`, labels, value: total };
  }
}
