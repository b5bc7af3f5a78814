/** What is measured of every request: how many at once, how long, what came of the polls, which problems were told. */

import { Counter, Gauge, type Registry } from 'prom-client';
import { type RouteName, RouteTimings } from './route-timings.ts';

/** What no route was found for; its path and method may be anything, so they are not told. */
const UNMATCHED: RouteName = { method: 'none', path: 'none' };
/** What a poll is answered with; all else is `other`. */
const POLL_RESULTS = [200, 304, 401, 403, 404, 500, 503] as const;
const HIGHEST_STATUS = 599;
const TOO_MANY_REQUESTS = 429;

export class RequestMetrics {
  private inFlight = 0;
  /** Answers to polls by status. An array, as every poll pays for it; labels are made when somebody asks. */
  private readonly polls = new Float64Array(HIGHEST_STATUS + 1);
  private readonly timings = new RouteTimings(
    'hawser_http_request_duration_seconds',
    'Time from a request to the last byte of its answer, by route template; look for the route whose share over 0.1 s rises',
  );
  private readonly problems: Counter<'code'>;
  private readonly limited: Counter<'route'>;
  private readonly pollPath: string;

  /** @param pollPath template of the route whose answers are counted as polls */
  constructor(registry: Registry, pollPath: string) {
    this.pollPath = pollPath;
    const registers = [registry];
    registry.registerMetric(this.timings.metric);
    this.problems = new Counter({
      name: 'hawser_problems_total',
      help: 'Problem answers by their code; docs/troubleshooting.md says of each code what to do',
      labelNames: ['code'],
      registers,
    });
    this.limited = new Counter({
      name: 'hawser_rate_limited_total',
      help: 'Requests refused with 429, by route: a caller floods it; the log has its address or node',
      labelNames: ['route'],
      registers,
    });
    this.showInFlight(registers);
    this.showPolls(registers);
  }

  begin(): void {
    this.inFlight += 1;
  }

  /**
   * Once for each `begin`, when the answer is out or broken off.
   * @param route undefined where none was found
   * @param code of the problem, undefined of a success
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

  private showInFlight(registers: Registry[]): void {
    const read = () => this.inFlight;
    new Gauge({
      name: 'hawser_http_requests_in_flight',
      help: 'Requests that are being carried out, fetches by git included; near HAWSER_NODE_CALLS nodes are turned away',
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  private showPolls(registers: Registry[]): void {
    const read = () => this.countPolls();
    new Counter({
      name: 'hawser_polls_total',
      help: 'Polls of the checksum by result: 304 is the steady state, 401 and 403 are nodes that are locked out',
      labelNames: ['result'],
      registers,
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
