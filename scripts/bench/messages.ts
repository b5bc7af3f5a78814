/** What the processes of a bench tell each other over their IPC channel. */

import type { ClientCertificate } from '../../test/support/client-certificates.ts';

/** Where a server listens, and the authority behind its certificate. */
export interface Endpoint {
  port: number;
  ca: string;
}

/** One client of a round: who it is, the bytes it sends, and the only answer that is right. */
export interface LoadClient {
  identity: ClientCertificate;
  request: string;
  status: number;
  /** Null: an answer without a body. */
  body: Buffer | null;
}

/** Main process to load generator: carry out one round. */
export interface LoadOrder {
  endpoint: Endpoint;
  /** One connection each; with `newConnections` one connection after the other each. */
  clients: readonly LoadClient[];
  newConnections: boolean;
  requests: number;
}

/** The generator's answer. Times from the first byte asked for (or the connect) to the last byte read. */
export type LoadResult =
  | { kind: 'done'; seconds: number; p50: number; p99: number }
  | { kind: 'failed'; message: string };

/** A node of a crowd: who it is, and the bytes of its poll. */
export interface CrowdNode {
  identity: ClientCertificate;
  request: string;
}

/** Main process to crowd. */
export type CrowdOrder =
  /** Connect these as well, beside those that are connected. */
  | { kind: 'connect'; endpoint: Endpoint; nodes: readonly CrowdNode[] }
  /** Every node polls once, so many at a time. Waves of one `state` must get the same answers to the byte. */
  | { kind: 'wave'; atOnce: number; state: string };

/** A wave as the crowd saw it. */
export interface Wave {
  polls: number;
  seconds: number;
  /** Of the first second, or of all that the wave took where that was less. */
  pollsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Nodes whose answer is not that of the wave before. */
  changed: number;
}

export type CrowdResult =
  | { kind: 'connected' }
  | ({ kind: 'done' } & Wave)
  | { kind: 'failed'; message: string };

/** Main process to bare server: answer every request like this from now on. */
export interface CannedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Main process to bare server, first: the certificate to use, and how many processes are to answer behind the port. */
export interface BareSetup {
  cert: string;
  key: string;
  workers: number;
}
