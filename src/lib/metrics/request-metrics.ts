/** Metrics of all requests: how many at once, how long they take, the results of polls, the problems answered. */

import { Counter, type Registry } from 'prom-client';
import { Instruments } from './instruments.ts';
import { type RouteName, RouteTimings } from './route-timings.ts';

/** Stands for requests without a route. Their paths and methods may be anything, so they are not shown. */
const UNMATCHED: RouteName = { method: 'none', path: 'none' };
/** The statuses of polls that are shown on their own. All others count as `other`. */
const POLL_RESULTS = [200, 304, 401, 403, 404, 500, 503] as const;
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
    this.reading(
      'hawser_http_requests_in_flight',
      'Requests that are being carried out, fetches by git included; near HAWSER_NODE_CALLS nodes are turned away',
      () => this.inFlight,
    );
    this.showPolls();
  }

  begin(): void {
    this.inFlight += 1;
  }

  /**
   * Is called once for each `begin`, when the answer has been sent or broken off.
   * @param route is undefined if no route was found
   * @param code is the problem's; undefined means success
   */
  end(route: RouteName | undefined, status: number, milliseconds: number, code: string | undefined): void {
    this.inFlight -= 1;
    const known = route ?? UNMATCHED;
    this.timings.add(known, status, milliseconds / 1_000);
    if (known.path === this.pollPath) this.polls[status] = (this.polls[status] ?? 0) + 1;
    if (code === undefined) return;
    this.problems.inc({ code });
    if (status === TOO_MANY_REQUESTS) this.limited.inc({ route: known.path });
  }

  private showPolls(): void {
    const read = () => this.countPolls();
    new Counter({
      name: 'hawser_polls_total',
      help: 'Polls of the checksum by result: 304 is the steady state, 401 and 403 are nodes that are locked out',
      labelNames: ['result'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [result, count] of read()) this.inc({ result }, count);
      },
    });
  }

  private countPolls(): [result: string, count: number][] {
    const listed = POLL_RESULTS.map((status): [string, number] => [String(status), this.polls[status] ?? 0]);
    const all = this.polls.reduce((sum, count) => sum + count, 0);
    const known = listed.reduce((sum, [, count]) => sum + count, 0);
    return [...listed, ['other', all - known]];
  }
}
