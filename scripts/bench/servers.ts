/**
 * Measures several servers on one PostgreSQL: when a publish is visible at the other server, what two servers answer, what a
 * publish costs beyond its bare commits, large versions, and what a server does whose cache is empty.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../test/support/client.ts';
import { makeCrowdIdentities } from './crowd-identities.ts';
import type { Fleet } from './fleet.ts';
import { BenchCluster } from './postgres-cluster.ts';
import { signIn } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { formatScale, type ScaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';
import { measureClones, measureFirstPolls } from './servers-cold.ts';
import { measureBareCommits } from './servers-commits.ts';
import { makeTwoFleets } from './servers-fleet.ts';
import { formatLarge, type LargeResult, measureLarge } from './servers-large.ts';
import { formatPair, measurePair, type PairRow } from './servers-pair.ts';
import { formatVisible, measureVisible, type VisibleRow } from './servers-visible.ts';

export const METRICS_TOKEN = 'a-token-for-the-metrics';

/** Two servers on one database. */
export interface SharedSite {
  fleet: Fleet;
  servers: [ServerProcess, ServerProcess];
  clients: [Client, Client];
}

export interface ServersResults {
  visible: VisibleRow[];
  pair: PairRow[];
  commits: ScaleRow[];
  large: LargeResult;
  clones: ScaleRow[];
  firstPolls: ScaleRow[];
}

export type Progress = (message: string) => void;

/** @param progress is called with what begins */
export async function measureServers(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: Progress,
): Promise<ServersResults> {
  const cluster = await BenchCluster.make();
  try {
    const stage = { folder: join(folder, 'servers'), template, processes, effort, cluster, progress };
    progress('making a fleet in folders and one in PostgreSQL');
    const identities = await makeCrowdIdentities(effort.servers.configurations);
    const url = await cluster.newUrl();
    const { sqlite, postgres } = await makeTwoFleets(stage, identities, url);
    progress('measuring: the first polls after a start');
    const firstPolls = await measureFirstPolls(stage, sqlite, postgres, url);
    progress('measuring: the first clone');
    const clones = await measureClones(stage);
    const site = await startPair(stage, postgres, url);
    progress('measuring: two servers');
    const pair = await measurePair(stage, site);
    progress('measuring: publish to visible');
    const visible = await measureVisible(stage, site);
    progress('measuring: a publish and its bare commits');
    const commits = await measureBareCommits(stage, site);
    await endPair(stage, site);
    progress('measuring: large versions');
    const large = await measureLarge(stage, sqlite, postgres, url);
    return { visible, pair, commits, large, clones, firstPolls };
  } finally {
    await cluster.remove();
  }
}

/** What all measurements of this part need. */
export interface Stage {
  folder: string;
  template: string;
  processes: Processes;
  effort: Effort;
  cluster: BenchCluster;
  progress: Progress;
}

async function startPair({ folder, processes }: Stage, fleet: Fleet, url: string): Promise<SharedSite> {
  const second = join(folder, 'second');
  for (const name of ['data', 'repos']) mkdirSync(join(second, name), { recursive: true });
  const settings = { HAWSER_DATABASE_URL: url, HAWSER_METRICS_TOKEN: METRICS_TOKEN };
  const first = await processes.startHawser(fleet.folder, { settings });
  const other = await processes.startHawser(second, { settings });
  return {
    fleet,
    servers: [first, other],
    clients: [await signIn(first.endpoint), await signIn(other.endpoint)],
  };
}

async function endPair({ processes }: Stage, { servers, clients }: SharedSite): Promise<void> {
  for (const client of clients) client.close();
  for (const server of servers) await processes.end(server);
}

export function formatServers(results: ServersResults): string {
  const sides = ['baseline', 'measured'] as const;
  return [
    formatVisible(results.visible),
    formatPair(results.pair),
    formatScale('a publish on PostgreSQL', results.commits, sides),
    formatLarge(results.large),
    formatScale('an empty cache', [...results.clones, ...results.firstPolls], sides),
  ].join('\n\n');
}
