/** Gauges of what the database knows of the fleet. They are set from outside, because `lib` knows no database. */

import { Instruments } from './instruments.ts';

/** Groups of certificates by the days for which they are still valid. Each certificate is in one group. */
export const CERTIFICATE_TERMS = ['expired', 'under_7', 'under_30', 'under_90', 'more'] as const;
export type CertificateTerm = (typeof CERTIFICATE_TERMS)[number];

export interface NodeCount {
  status: string;
  lcmStatus: string;
  count: number;
}

/** The last cleanup of a type that has ended and was no dry run. */
export interface CleanupFacts {
  versionType: string;
  /** The time is in epoch milliseconds. */
  completedAt: number;
  hasFailed: boolean;
}

/** How many nodes run something by this evidence. */
export interface EvidenceCount {
  evidence: string;
  count: number;
}

export interface FleetFacts {
  nodes: readonly NodeCount[];
  running: readonly EvidenceCount[];
  stale: number;
  /** Nodes that came from another server and have not called yet. */
  awaiting: number;
  certificates: Readonly<Record<CertificateTerm, number>>;
  /** When stale nodes and certificates were counted, in epoch milliseconds. */
  countedAt: number;
  generation: number;
  cleanups: readonly CleanupFacts[];
}

export class FleetMetrics extends Instruments {
  private readonly nodes = this.gauge(
    'hawser_nodes',
    'Registered nodes by compliance and by what their LCM does; Error needs a look at the reports of those nodes',
    'status',
    'lcm_status',
  );
  private readonly running = this.gauge(
    'hawser_nodes_running',
    'Nodes by how it is known what they run; the rest was never told anything',
    'evidence',
  );
  private readonly stale = this.gauge(
    'hawser_nodes_stale',
    'Nodes that have stayed away for longer than their interval times the staleness multiplier: list them with ?stale=true',
  );
  private readonly awaiting = this.gauge(
    'hawser_nodes_awaiting',
    'Nodes that came from another server and have not called yet; it falls while their agents get the new URL',
  );
  private readonly certificates = this.gauge(
    'hawser_node_certificates',
    "Nodes' certificates by days left; those that stay under_7 are not rotated by their agents",
    'days_left',
  );
  private readonly countedAt = this.gauge(
    'hawser_fleet_counted_timestamp_seconds',
    'When stale nodes and certificates were counted last, at most once a minute; in Unix time',
  );
  private readonly generation = this.gauge(
    'hawser_generation',
    'Rises with every change that can alter what a node gets; after each the manifests are looked at anew',
  );
  private readonly cleanedAt = this.gauge(
    'hawser_retention_last_run_timestamp_seconds',
    'End of the last cleanup of each type, in Unix time; one that stops moving while retention is on needs a look',
    'version_type',
  );
  private readonly cleanupFailed = this.gauge(
    'hawser_retention_last_run_failed',
    'Whether the last cleanup of each type failed: GET /api/v1/retention/runs says why',
    'version_type',
  );

  /** Sets all gauges to these facts. */
  show(facts: FleetFacts): void {
    for (const gauge of [this.nodes, this.cleanedAt, this.cleanupFailed]) gauge.reset();
    for (const { status, lcmStatus, count } of facts.nodes)
      this.nodes.set({ status, lcm_status: lcmStatus }, count);
    for (const { evidence, count } of facts.running) this.running.set({ evidence }, count);
    this.stale.set(facts.stale);
    this.awaiting.set(facts.awaiting);
    for (const term of CERTIFICATE_TERMS)
      this.certificates.set({ days_left: term }, facts.certificates[term]);
    this.countedAt.set(facts.countedAt / 1_000);
    this.generation.set(facts.generation);
    for (const { versionType, completedAt, hasFailed } of facts.cleanups) {
      this.cleanedAt.set({ version_type: versionType }, completedAt / 1_000);
      this.cleanupFailed.set({ version_type: versionType }, Number(hasFailed));
    }
  }
}
