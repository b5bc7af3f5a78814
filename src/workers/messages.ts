/** The messages between the processes of one server, sent as plain JSON over the channel that node:cluster opens. */

import type { LockMode } from '../lib/locks.ts';
import type { LogLevel } from '../lib/log.ts';
import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';

/** The part that a worker has in the server. */
export interface Role {
  /** One worker of a server renews the generated certificate, and may lead (leadership.ts). */
  isLeader: boolean;
  /** 48 bytes in base64. With the same keys all workers can resume each other's TLS sessions. */
  ticketKeys: string;
  /** That of the primary. */
  logLevel: LogLevel;
}

/** A message from a worker to the primary. */
export type FromWorker =
  /** The worker listens to messages now. Earlier ones were lost. */
  | { type: 'ready' }
  | { type: 'listening'; url: string; uiUrl: string | null }
  | { type: 'acquire'; id: number; key: string; mode: LockMode; onlyIfFree: boolean }
  | { type: 'release'; id: number }
  /** The leader has renewed the generated certificate, and all workers are to read it again. */
  | { type: 'renewed' }
  /** The worker wants the metrics of all others. Their answers and the primary's bear the same id. */
  | { type: 'gather'; id: string }
  | { type: 'metrics'; id: string; values: MetricsOfProcess }
  /** What the worker found wrong at the reload of this id. */
  | { type: 'reloaded'; id: string; faults: readonly string[] };

/** A message from the primary to a worker. */
export type FromPrimary =
  | ({ type: 'start' } & Role)
  | { type: 'granted'; id: number }
  | { type: 'refused'; id: number }
  | { type: 'reload'; id: string; ticketKeys: string }
  | { type: 'log-level'; logLevel: LogLevel }
  /** Another worker was lost at this time, in epoch milliseconds. It may have left lock files. */
  | { type: 'lost'; at: number }
  | { type: 'measure'; id: string }
  | { type: 'gathered'; id: string; all: MetricsOfProcess[] }
  | { type: 'close' };
