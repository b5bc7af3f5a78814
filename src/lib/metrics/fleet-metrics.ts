/** Gauges of what the database knows of the fleet; set by whoever reads it, as this room knows no database. */

import { Gauge, type Registry } from 'prom-client';

/** By how long they are still good; each certificate is in one of them. */
export const CERTIFICATE_TERMS = ['expired', 'under_7', 'under_30', 'under_90', 'more'] as const;
export type CertificateTerm = (typeof CERTIFICATE_TERMS)[number];

export interface NodeCount {
  status: string;
  lcmStatus: string;
  count: number;
}

/** The last run of a cleanup that ended and was no trial. */
export interface CleanupFacts {
  versionType: string;
  /** Epoch milliseconds. */
  completedAt: number;
  hasFailed: boolean;
}

export interface FleetFacts {
  nodes: readonly NodeCount[];
  stale: number;
  certificates: Readonly<Record<CertificateTerm, number>>;
  /** When stale nodes and certificates were counted. Epoch milliseconds. */
  countedAt: number;
  generation: number;
  cleanups: readonly CleanupFacts[];
}

export class FleetMetrics {
  private readonly registry: Registry;
  private readonly nodes: Gauge;
  private readonly stale: Gauge;
  private readonly certificates: Gauge;
  private readonly countedAt: Gauge;
  private readonly generation: Gauge;
  private readonly cleanedAt: Gauge;
  private readonly cleanupFailed: Gauge;

  constructor(registry: Registry) {
    this.registry = registry;
    this.nodes = this.gauge(
      'hawser_nodes',
      'Registered nodes by compliance and by what their LCM does; Error needs a look at the reports of those nodes',
      ['status', 'lcm_status'],
    );
    this.stale = this.gauge(
      'hawser_nodes_stale',
      'Nodes that have stayed away for longer than their interval times the staleness multiplier: list them with ?stale=true',
    );
    this.certificates = this.gauge(
      'hawser_node_certificates',
      "Nodes' certificates by days left; those that stay under_7 are not rotated by their agents",
      ['days_left'],
    );
    this.countedAt = this.gauge(
      'hawser_fleet_counted_timestamp_seconds',
      'When stale nodes and certificates were counted last, at most once a minute; in Unix time',
    );
    this.generation = this.gauge(
      'hawser_generation',
      'Rises with every change that can alter what a node gets; after each the manifests are looked at anew',
    );
    this.cleanedAt = this.gauge(
      'hawser_retention_last_run_timestamp_seconds',
      'End of the last cleanup of each type, in Unix time; one that stops moving while retention is on needs a look',
      ['version_type'],
    );
    this.cleanupFailed = this.gauge(
      'hawser_retention_last_run_failed',
      'Whether the last cleanup of each type failed: GET /api/v1/retention/runs says why',
      ['version_type'],
    );
  }

  /** Shows these facts in place of those before. */
  show(facts: FleetFacts): void {
    for (const gauge of [this.nodes, this.cleanedAt, this.cleanupFailed]) gauge.reset();
    for (const { status, lcmStatus, count } of facts.nodes)
      this.nodes.set({ status, lcm_status: lcmStatus }, count);
    this.stale.set(facts.stale);
    for (const term of CERTIFICATE_TERMS)
      this.certificates.set({ days_left: term }, facts.certificates[term]);
    this.countedAt.set(facts.countedAt / 1_000);
    this.generation.set(facts.generation);
    for (const { versionType, completedAt, hasFailed } of facts.cleanups) {
      this.cleanedAt.set({ version_type: versionType }, completedAt / 1_000);
      this.cleanupFailed.set({ version_type: versionType }, Number(hasFailed));
    }
  }

  /** Of all processes that share a database any one tells it, so they are not to be added up. */
  private gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry], aggregator: 'first' });
  }
}
