/** What the processes of one server say to each other, as plain JSON over the channel that node:cluster opens. */

import type { LockMode } from '../lib/locks.ts';
import type { MetricsOfProcess } from '../lib/metrics/metrics.ts';

/** What a worker is to be. */
export interface Role {
  /** The one worker that does what only one must: the schedules, and the renewal of the made certificate. */
  isLeader: boolean;
  /** Base64, 48 bytes: all workers can resume each other's TLS sessions. */
  ticketKeys: string;
}

/** From a worker to the primary. */
export type FromWorker =
  /** It hears now: what was said before is lost. */
  | { type: 'ready' }
  | { type: 'listening'; url: string }
  | { type: 'acquire'; id: number; key: string; mode: LockMode; onlyIfFree: boolean }
  | { type: 'release'; id: number }
  /** The leader has looked after the made certificate, and all are to take it anew. */
  | { type: 'renewed' }
  /** It is asked for the metrics and wants those of the others; what it and they answer bears the same id. */
  | { type: 'gather'; id: string }
  | { type: 'metrics'; id: string; values: MetricsOfProcess };

/** From the primary to a worker. */
export type FromPrimary =
  | ({ type: 'start' } & Role)
  | { type: 'granted'; id: number }
  | { type: 'refused'; id: number }
  | { type: 'reload'; ticketKeys: string }
  /** Another worker has ended without a word, at this time (epoch milliseconds): what it held is left over. */
  | { type: 'lost'; at: number }
  | { type: 'measure'; id: string }
  | { type: 'gathered'; id: string; all: MetricsOfProcess[] }
  | { type: 'close' };
