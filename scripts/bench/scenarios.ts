/** What is measured, how often, and what it may cost. */

import { SECOND } from '../../src/lib/clock.ts';
import type { CapacityAmounts } from './capacity.ts';
import type { FleetSize } from './fleet.ts';
import type { ImportAmounts } from './importing.ts';
import type { RecordSize } from './record-site.ts';

export interface Scenario {
  label: string;
  resource: 'checksum' | 'bundle';
  /** The request has an If-None-Match with the ETag that the node has, so the answer is 304. */
  known: boolean;
  newConnections: boolean;
  /** The number of requests of one round with one server. */
  requests: number;
  /** The most CPU allowed, as a multiple of the bare server's; null if there is no target. */
  target: number | null;
}

const KEEP_ALIVE_TARGET = 1.5;
const NEW_CONNECTION_TARGET = 1.08;
const BUNDLE_TARGET = 1.4;
/** The most CPU allowed on the large fleet, as a multiple of the small one's. This target is for polls only. */
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

/** The amounts of everything, for a full run or for a quick test that it works. */
export interface Effort {
  connections: number;
  rounds: number;
  warmUpRounds: number;
  /**
   * The rounds of the scenarios. They are many and short, because the speed of this machine may change within
   * seconds.
   */
  polls: { rounds: number; warmUpRounds: number };
  /** The factor for the number of each scenario's requests. */
  share: number;
  large: FleetSize;
  parameters: ParameterAmounts;
  /** The files that are pushed at once, and how long polls are measured before. */
  manyFiles: { files: number; idleMs: number };
  records: RecordAmounts;
  /** The size of the fleet in the part on starts. */
  start: FleetSize;
  attacks: AttackAmounts;
  previews: PreviewAmounts;
  console: ConsoleAmounts;
  postgres: PostgresAmounts;
  servers: ServersAmounts;
  imports: ImportAmounts;
  capacity: CapacityAmounts;
}

/** The amounts of the part on several servers. */
export interface ServersAmounts {
  /** The number of configurations, and of nodes that poll. */
  configurations: number;
  /** How many publishes are looked for at each of two servers. */
  publishes: number;
  /** The number of versions of the repository that is cloned, and how often each way to clone it is measured. */
  versions: number;
  clones: number;
  /** How often each way to start is measured. */
  starts: number;
  /** The bytes of a large version, and how many are uploaded to each server. */
  uploadBytes: number;
  uploads: number;
}

/** The amounts of the part on PostgreSQL. */
export interface PostgresAmounts {
  /** The number of nodes that call within a second, and how often they do. */
  checkIns: number;
  checkInRounds: number;
  /** The nodes that report, all together so often a second, and for how long. */
  reporters: number;
  reportsPerSecond: number;
  reportSeconds: number;
}

/** The amounts of the part on the console. */
export interface ConsoleAmounts {
  /** The number of nodes on the server with many. */
  nodes: number;
  /** How long open pages are watched. */
  idleMs: number;
}

/** The amounts of the part on previews. */
export interface PreviewAmounts {
  nodes: number;
  /** The number of values of each of three scope types, on the site with few groups and on the one with many. */
  fewValues: number;
  manyValues: number;
  /** How long polls are measured before each preview. */
  idleMs: number;
}

/** The amounts of the part on parameters. */
export interface ParameterAmounts {
  /** The number of scope values on the server with many. Each has one file. */
  values: number;
  /**
   * The number of nodes on that server. The nodes that really connect have a connection each, and a process may open
   * some 20,000 files.
   */
  nodes: number;
  connected: number;
  /** The number of nodes that connect to each server while few and many values are compared. */
  compared: number;
  /**
   * The pause before a wave. The server writes the times of the nodes' last calls every second. In the full run, no
   * wave begins while the batch of the wave before is still pending.
   */
  settleMs: number;
}

/** The amounts of the part on attacks. */
export interface AttackAmounts {
  isQuick: boolean;
  /** How long polls are measured before an attack. */
  idleMs: number;
  /** Selects the attacks by their names. */
  rows(name: string): boolean;
}

/** The amounts of the part on nodes and reports. */
export interface RecordAmounts {
  many: RecordSize;
  /** The number of requests in one round of a list. */
  listRequests: number;
  /** How long reports are sent in each of the two ways, in each round. */
  reportRoundMs: number;
  /** How long small writes are measured before the cleanup. */
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
  manyFiles: { files: 500, idleMs: 5 * SECOND },
  records: {
    many: { nodes: 100_000, reports: 1_000_000, reportsOfBusy: 10_000 },
    ...{ listRequests: 40, reportRoundMs: 2 * SECOND, idleWritesMs: 20 * SECOND },
  },
  start: { configurations: 1_000, nodes: 100_000 },
  attacks: { isQuick: false, idleMs: 2 * SECOND, rows: () => true },
  // The nodes have 44 x 44 x 44 combinations of values, which are 85,184.
  previews: { nodes: 100_000, fewValues: 2, manyValues: 44, idleMs: 10 * SECOND },
  console: { nodes: 100_000, idleMs: 60 * SECOND },
  // A node may report twice a second.
  postgres: {
    ...{ checkIns: 100_000, checkInRounds: 3 },
    ...{ reporters: 600, reportsPerSecond: 1_000, reportSeconds: 60 },
  },
  // A version has at most 50 MiB.
  servers: {
    ...{ configurations: 1_000, publishes: 50, versions: 200, clones: 5, starts: 3 },
    ...{ uploadBytes: 50 * 1024 ** 2, uploads: 5 },
  },
  imports: { nodes: 10_000, configurations: 100, versions: 10, files: 10 },
  capacity: {
    ...{ configurations: 100, fleets: [1_000, 10_000, 50_000], connections: 19_000, reports: 20_000 },
  },
};
export const QUICK: Effort = {
  connections: 8,
  rounds: 3,
  warmUpRounds: 1,
  polls: { rounds: 9, warmUpRounds: 4 },
  share: 0.5,
  large: { configurations: 100, nodes: 2_000 },
  parameters: { values: 500, nodes: 1_000, connected: 400, compared: 200, settleMs: 100 },
  manyFiles: { files: 50, idleMs: SECOND },
  records: {
    many: { nodes: 2_000, reports: 10_000, reportsOfBusy: 1_000 },
    ...{ listRequests: 10, reportRoundMs: SECOND / 2, idleWritesMs: SECOND },
  },
  start: { configurations: 100, nodes: 2_000 },
  attacks: { isQuick: true, idleMs: SECOND, rows: () => true },
  previews: { nodes: 2_000, fewValues: 2, manyValues: 12, idleMs: SECOND },
  console: { nodes: 2_000, idleMs: 16 * SECOND },
  postgres: {
    ...{ checkIns: 5_000, checkInRounds: 2 },
    ...{ reporters: 100, reportsPerSecond: 100, reportSeconds: 3 },
  },
  servers: {
    ...{ configurations: 100, publishes: 5, versions: 40, clones: 2, starts: 1 },
    ...{ uploadBytes: 5 * 1024 ** 2, uploads: 2 },
  },
  imports: { nodes: 500, configurations: 5, versions: 4, files: 10 },
  capacity: { configurations: 10, fleets: [100, 400], connections: 200, reports: 1_000 },
};
