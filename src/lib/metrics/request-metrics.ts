/** Metrics of all requests: how many at once, how long they take, the results of polls, the problems answered. */

import type { Metric, Registry } from 'prom-client';
import { Instruments, type Reading } from './instruments.ts';

/** A route, or an object that stands for one. Routes are told apart by identity. */
interface RouteName {
  readonly method: string;
  /** The template of the path, never the path of a request. */
  readonly path: string;
}

/** Bounds in seconds. A poll takes some 50 µs of the server's time, a fetch by git up to half an hour. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;
/** Classes of statuses; the index is the first digit of the status. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** The durations of one route and one class of statuses. */
class Durations {
  /** The last count is of requests that took longer than all bounds. */
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

/**
 * Durations of requests by route, as a Prometheus histogram. Every poll pays for it, so a request costs one look into a
 * map and two additions. prom-client's own histogram makes an object and hashes the labels each time, some 1.5 µs.
 */
class RouteTimings {
  private readonly name: string;
  private readonly help: string;
  private readonly routes = new Map<RouteName, (Durations | undefined)[]>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(route: RouteName, status: number, seconds: number): void {
    let classes = this.routes.get(route);
    if (classes === undefined) {
      classes = CLASSES.map(() => undefined);
      this.routes.set(route, classes);
    }
    const digit = Math.floor(status / 100);
    const index = digit < CLASSES.length ? digit : 0;
    const durations = classes[index] ?? new Durations();
    classes[index] = durations;
    durations.add(seconds);
  }

  /** A metric for a registry of prom-client, which uses only its name and `get`. */
  get metric(): Metric {
    const { name, help } = this;
    const get = async () => ({ name, help, type: 'histogram', values: [...this.samples()] });
    return { name, get } as unknown as Metric;
  }

  private *samples(): Generator<Sample> {
    for (const [{ method, path }, classes] of this.routes) {
      for (const [index, durations] of classes.entries()) {
        const status = CLASSES[index] ?? 'none';
        if (durations) yield* this.samplesOf(durations, { route: path, method, status });
      }
    }
  }

  private *samplesOf({ counts, sum }: Durations, labels: Record<string, string>): Generator<Sample> {
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

/** Stands for requests without a route. Their paths and methods may be anything, so they are not shown. */
const UNMATCHED: RouteName = { method: 'none', path: 'none' };
/** The statuses of polls that are shown on their own. All others count as `other`. */
const POLL_RESULTS = [200, 304, 401, 403, 404, 500, 503] as const;
/** Alerts and their runbooks ask for these codes. Prometheus sees the first of each only if it has seen a zero before. */
const CODES_OF_ALERTS = [
  ...['insufficient_storage', 'internal_error', 'overloaded', 'unavailable'],
  ...['repository_damaged', 'repository_io', 'repository_missing'],
  ...['certificate_revoked', 'certificate_untrusted', 'crl_expired', 'forbidden', 'unauthenticated'],
] as const;
const HIGHEST_STATUS = 599;
const TOO_MANY_REQUESTS = 429;

export class RequestMetrics extends Instruments {
  private inFlight = 0;
  /** Answers to polls by status. It is an array because every poll pays for it; labels are made at a scrape. */
  private readonly polls = new Float64Array(HIGHEST_STATUS + 1);
  private readonly timings = new RouteTimings(
    'hawser_http_request_duration_seconds',
    'Time from a request to the last byte of its answer, by route template; look for the route whose share over 0.1 s rises',
  );
  private readonly problems = this.counter(
    'hawser_problems_total',
    'Problem answers by their code; docs/troubleshooting.md says of each code what to do',
    'code',
  );
  private readonly limited = this.counter(
    'hawser_rate_limited_total',
    'Requests refused with 429, by route: a caller floods it; the log has its address or node',
    'route',
  );
  private readonly pollPath: string;

  /** @param pollPath is the template of the route whose answers are counted as polls */
  constructor(registry: Registry, pollPath: string) {
    super(registry);
    this.pollPath = pollPath;
    registry.registerMetric(this.timings.metric);
    for (const code of CODES_OF_ALERTS) this.problems.inc({ code }, 0);
    this.reading(
      'hawser_http_requests_in_flight',
      'Requests that are being carried out, fetches by git included; when there are nearly 4,000 of them, nodes are turned away',
      () => this.inFlight,
    );
    this.countsOf(
      'hawser_polls_total',
      'Polls of the checksum by result: 304 is the steady state, 401 and 403 are nodes that are locked out',
      'result',
      () => this.countPolls(),
    );
  }

  /** Counts the answer to what never became a request. */
  readonly onProblem = (code: string): void => this.problems.inc({ code });

  begin(): void {
    this.inFlight += 1;
  }

  /**
   * Is called once for each `begin`, when the answer has been sent or broken off.
   * @param route is undefined if no route was found
   * @param code is the problem's; undefined means success, or a refusal that nobody is told
   */
  end(route: RouteName | undefined, status: number, milliseconds: number, code: string | undefined): void {
    this.inFlight -= 1;
    const known = route ?? UNMATCHED;
    this.timings.add(known, status, milliseconds / 1_000);
    if (known.path === this.pollPath) this.polls[status] = (this.polls[status] ?? 0) + 1;
    if (code === undefined) return;
    this.onProblem(code);
    if (status === TOO_MANY_REQUESTS) this.limited.inc({ route: known.path });
  }

  private countPolls(): readonly Reading[] {
    const listed = POLL_RESULTS.map((status): [string, number] => [String(status), this.polls[status] ?? 0]);
    const all = this.polls.reduce((sum, count) => sum + count, 0);
    const known = listed.reduce((sum, [, count]) => sum + count, 0);
    return [...listed, ['other', all - known]];
  }
}
