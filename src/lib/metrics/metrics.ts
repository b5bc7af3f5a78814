/**
 * The metrics of one server, in a registry of their own, because several servers may run in one process. The parts of
 * the server that count are given callbacks; values that can be read at any time are read at a scrape.
 */

import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CacheFacts } from '../counted-cache.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import { Instruments, type Reading } from './instruments.ts';
import { RequestMetrics } from './request-metrics.ts';
import { RunMetrics } from './run-metrics.ts';
import { WorkMetrics } from './work-metrics.ts';

export interface MetricsOptions {
  version: string;
  /** The template of the route whose answers are counted as polls. */
  pollPath: string;
}

/** Gives the facts of caches by their names. */
export type CacheReader = () => Readonly<Record<string, CacheFacts>>;

/** Values that the parts of a server can give at any time. */
export interface Readings {
  gitProcesses(): number;
  repositoryProblems(): number;
  refProblems(): number;
  manifests(): number;
  previewsRunning(): number;
  previewsWaiting(): number;
  leader(): number;
}

const READINGS: Record<keyof Readings, { name: string; help: string }> = {
  gitProcesses: {
    name: 'hawser_git_processes',
    help: 'Runs of git upload-pack and git blame at this moment; at their limit further calls wait, then get 429',
  },
  repositoryProblems: {
    name: 'hawser_repository_problems',
    help: 'Repositories and refs known to be damaged or missing: /health/ready names them',
  },
  refProblems: {
    name: 'hawser_ref_problems',
    help: 'Refs that are named like a version and are none; nothing is damaged, and /health/ready names them',
  },
  manifests: {
    name: 'hawser_manifests_remembered',
    help: 'Nodes whose manifest is in memory, so that their next poll is one comparison; falls to 0 with a restart',
  },
  previewsRunning: {
    name: 'hawser_previews_running',
    help: 'Previews that are being made at this moment; at most two',
  },
  previewsWaiting: {
    name: 'hawser_previews_waiting',
    help: 'Previews that wait for their turn; at 20 further ones are answered with 429',
  },
  leader: {
    name: 'hawser_leader',
    help: 'Whether this server leads, and so does what nobody asks for; the sum over all servers of a database is 1',
  },
};

export class Metrics extends Instruments {
  readonly requests: RequestMetrics;
  readonly work: WorkMetrics;
  readonly fleet: FleetMetrics;
  readonly runs: RunMetrics;
  private readonly caches: CacheReader[] = [];
  private readonly tlsTerms = this.gauge(
    'hawser_tls_certificate_expiry_timestamp_seconds',
    "End of the term of the server's certificate and of the built-in authority, in Unix time; renew before it",
    'certificate',
  );
  private readonly crlNextUpdate = this.gauge(
    'hawser_crl_next_update_timestamp_seconds',
    'Earliest next update of the lists in HAWSER_NODE_CRL, in Unix time; from then on nodes are refused',
  );
  private readonly reloadFailed = this.gauge(
    'hawser_reload_failed',
    'Whether the last reload of TLS files, node CA, CRL or identity providers failed; the old ones stay, see the log',
  );

  constructor({ version, pollPath }: MetricsOptions) {
    super(new Registry());
    this.requests = new RequestMetrics(this.registry, pollPath);
    this.work = new WorkMetrics(this.registry);
    this.fleet = new FleetMetrics(this.registry);
    this.runs = new RunMetrics(this.registry);
    const help = 'Always 1; which version runs, to tell before from after an upgrade';
    const buildInfo = this.gauge('hawser_build_info', help, 'version', 'node_version');
    buildInfo.set({ version, node_version: process.version }, 1);
    this.showCaches();
    this.showCrlTerm(null);
  }

  /** Measures processor, memory, file descriptors, garbage collection and the lag of the event loop from now on. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Shows the caches of this reader, which is called at every scrape. */
  addCaches(read: CacheReader): void {
    this.caches.push(read);
  }

  /** Shows the values of these functions, which are called at every scrape. */
  addReadings(readings: Partial<Readings>): void {
    for (const [key, read] of Object.entries(readings)) {
      const { name, help } = READINGS[key as keyof Readings];
      this.reading(name, help, read);
    }
  }

  /** Shows how many rollouts are in each state, by a function that is called at every scrape. */
  showRollouts(read: () => readonly Reading[]): void {
    const help =
      'Rollouts by state, all that were ever started and are kept; only the leader knows them, so add up';
    this.readings('hawser_rollouts', help, 'state', read);
  }

  /** @param notAfter is in epoch milliseconds */
  showTlsTerm(certificate: 'server' | 'authority', notAfter: number): void {
    this.tlsTerms.set({ certificate }, notAfter / 1_000);
  }

  /** @param nextUpdate is in epoch milliseconds; null without a list that names one */
  showCrlTerm(nextUpdate: number | null): void {
    if (nextUpdate === null) this.crlNextUpdate.remove();
    else this.crlNextUpdate.set(nextUpdate / 1_000);
  }

  showReload(hasFailed: boolean): void {
    this.reloadFailed.set(Number(hasFailed));
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Gives all metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  private showCaches(): void {
    const read = (fact: keyof CacheFacts) => () =>
      this.caches
        .flatMap((caches) => Object.entries(caches()))
        .map(([cache, facts]) => [cache, facts[fact]] as const);
    const bytes = 'Bytes in each cache; full and with many misses means HAWSER_CACHE_BYTES is too small';
    this.readings('hawser_cache_bytes', bytes, 'cache', read('bytes'));
    this.readings('hawser_cache_entries', 'Entries in each cache', 'cache', read('entries'));
    const hits = 'How often a cache had what was asked for; compare with the misses';
    this.countsOf('hawser_cache_hits_total', hits, 'cache', read('hits'));
    const misses = 'How often a cache did not have it, and it was read or made';
    this.countsOf('hawser_cache_misses_total', misses, 'cache', read('misses'));
  }
}
