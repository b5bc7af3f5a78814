/** The messages that the processes of a bench send each other over their IPC channel. */

import type { ClientCertificate } from '../../test/support/client-certificates.ts';

/** The port of a server, and the authority that issued its certificate. */
export interface Endpoint {
  port: number;
  ca: string;
}

/** One client of a round: its identity, the bytes that it sends, and the only correct answer. */
export interface LoadClient {
  identity: ClientCertificate;
  request: string;
  status: number;
  /** Null for an answer without a body. */
  body: Buffer | null;
}

/** A message from the main process to the load generator: run one round. */
export interface LoadOrder {
  endpoint: Endpoint;
  /** Each client has one connection; with `newConnections` each client opens one connection after the other. */
  clients: readonly LoadClient[];
  newConnections: boolean;
  requests: number;
}

/**
 * The generator's answer. A time lasts from the first byte of the request (or the connect) to the last byte of the
 * answer.
 */
export type LoadResult =
  | { kind: 'done'; seconds: number; p50: number; p99: number }
  | { kind: 'failed'; message: string };

/** A node of a crowd: its identity, and the bytes of its poll. */
export interface CrowdNode {
  identity: ClientCertificate;
  request: string;
}

/** A message from the main process to the crowd. */
export type CrowdOrder =
  /** Connect these nodes in addition to those that are connected. */
  | { kind: 'connect'; endpoint: Endpoint; nodes: readonly CrowdNode[] }
  /**
   * Every node polls once, with this many polls at a time. Waves of the same `state` must get answers that are equal
   * byte by byte.
   */
  | { kind: 'wave'; atOnce: number; state: string };

/** The results of a wave, as the crowd measured them. */
export interface Wave {
  polls: number;
  seconds: number;
  /** The rate in the first second, or in the whole wave if it took less. */
  pollsPerSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
  /** The number of nodes whose answer differs from that of the wave before. */
  changed: number;
}

export type CrowdResult =
  | { kind: 'connected' }
  | ({ kind: 'done' } & Wave)
  | { kind: 'failed'; message: string };

/** A message from the main process to the reporters: all nodes together send so many reports a second. */
export interface ReportOrder {
  endpoint: Endpoint;
  /** Each node's request is its report. */
  nodes: readonly CrowdNode[];
  perSecond: number;
  seconds: number;
}

/** What the reporters saw. A time lasts from when a report was due to its answer. */
export type ReportOutcome =
  | { kind: 'done'; acknowledged: number; seconds: number; p50: number; p99: number; longest: number }
  | { kind: 'failed'; message: string };

/** A message from the main process to the bare server: from now on, answer every request like this. */
export interface CannedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** The first message from the main process to the bare server: its certificate. */
export interface BareSetup {
  cert: string;
  key: string;
}
