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

/** Main process to bare server: answer every request like this from now on. */
export interface CannedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Main process to bare server, first: the certificate to use. */
export interface BareSetup {
  cert: string;
  key: string;
}
