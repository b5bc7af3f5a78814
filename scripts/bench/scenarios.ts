/** What is measured, how often, and what it may cost. */

import { SECOND } from '../../src/lib/clock.ts';
import type { FleetSize } from './fleet.ts';
import type { RecordSize } from './record-site.ts';

export interface Scenario {
  label: string;
  resource: 'checksum' | 'bundle';
  /** With If-None-Match of what the node has, so that the answer is 304. */
  known: boolean;
  newConnections: boolean;
  /** Requests of one round against one server. */
  requests: number;
  /** Most CPU allowed as a multiple of the bare server's; null: measured only. */
  target: number | null;
}

const KEEP_ALIVE_TARGET = 1.5;
const NEW_CONNECTION_TARGET = 1.08;
const BUNDLE_TARGET = 1.4;
/** Most CPU allowed on the large fleet as a multiple of the small one's. Polls only. */
export const GROWTH_TARGET = 1.2;

export const SCENARIOS: readonly Scenario[] = [
  {
    label: 'checksum, keep-alive',
    resource: 'checksum',
    known: false,
    newConnections: false,
    requests: 2_000,
    target: KEEP_ALIVE_TARGET,
  },
  {
    label: '304, keep-alive',
    resource: 'checksum',
    known: true,
    newConnections: false,
    requests: 2_000,
    target: KEEP_ALIVE_TARGET,
  },
  {
    label: 'checksum, new connections',
    resource: 'checksum',
    known: false,
    newConnections: true,
    requests: 150,
    target: NEW_CONNECTION_TARGET,
  },
  {
    label: '20 KB bundle, keep-alive',
    resource: 'bundle',
    known: false,
    newConnections: false,
    requests: 1_000,
    target: BUNDLE_TARGET,
  },
];

export const SMALL: FleetSize = { configurations: 10, nodes: 100 };
export const LARGE: FleetSize = { configurations: 1_000, nodes: 20_000 };

/** How much of everything: the full run, or a look whether it works. */
export interface Effort {
  connections: number;
  rounds: number;
  warmUpRounds: number;
  /** Of the scenarios: many and short, as how fast this machine is may change within seconds. */
  polls: { rounds: number; warmUpRounds: number };
  /** Multiplies each scenario's requests. */
  share: number;
  large: FleetSize;
  parameters: ParameterAmounts;
  records: RecordAmounts;
  /** The site of the part on starts. */
  start: FleetSize;
  attacks: AttackAmounts;
}

/** Of the part on parameters. */
export interface ParameterAmounts {
  /** Scope values, a file each, of the server that has many. */
  values: number;
  /** Of that server. Those that really connect have a connection each, and a process may open 20,000 files or so. */
  nodes: number;
  connected: number;
  /** Nodes that connect to each server while few and many values are compared. */
  compared: number;
  /**
   * Pause before a wave. The server writes the nodes' last calls every second, and in the full run no wave begins with
   * a batch of the one before still owed.
   */
  settleMs: number;
}

/** Of the part on attacks. */
export interface AttackAmounts {
  isQuick: boolean;
  /** How long polls are looked at before an attack. */
  idleMs: number;
  /** Which attacks, by their names. */
  rows(name: string): boolean;
}

/** Of the part on nodes and reports. */
export interface RecordAmounts {
  many: RecordSize;
  /** Of one round of a list. */
  listRequests: number;
  /** How long reports are handed in, one way and the other, in each round. */
  reportRoundMs: number;
  /** How long small writes are timed before the cleanup. */
  idleWritesMs: number;
}

export const FULL: Effort = {
  connections: 32,
  rounds: 7,
  warmUpRounds: 2,
  polls: { rounds: 31, warmUpRounds: 9 },
  share: 1,
  large: LARGE,
  parameters: { values: 10_000, nodes: 20_000, connected: 8_000, compared: 2_000, settleMs: 1_200 },
  records: {
    many: { nodes: 100_000, reports: 1_000_000, reportsOfBusy: 10_000 },
    ...{ listRequests: 40, reportRoundMs: 2 * SECOND, idleWritesMs: 20 * SECOND },
  },
  start: { configurations: 1_000, nodes: 100_000 },
  attacks: { isQuick: false, idleMs: 2 * SECOND, rows: () => true },
};
export const QUICK: Effort = {
  connections: 8,
  rounds: 3,
  warmUpRounds: 1,
  polls: { rounds: 9, warmUpRounds: 4 },
  share: 0.5,
  large: { configurations: 100, nodes: 2_000 },
  parameters: { values: 500, nodes: 1_000, connected: 400, compared: 200, settleMs: 100 },
  records: {
    many: { nodes: 2_000, reports: 10_000, reportsOfBusy: 1_000 },
    ...{ listRequests: 10, reportRoundMs: SECOND / 2, idleWritesMs: SECOND },
  },
  start: { configurations: 100, nodes: 2_000 },
  attacks: { isQuick: true, idleMs: SECOND, rows: () => true },
};
