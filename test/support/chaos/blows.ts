/** What a round does to the cluster. */

import type { ServerCluster } from '../cluster/cluster.ts';
import type { ClusterServer } from '../cluster/server.ts';
import type { Random } from '../crash/random.ts';
import type { Cluster } from '../postgres.ts';

/** A blow kills some servers and perhaps PostgreSQL. */
export interface Blow {
  kind: 'one server' | 'some servers' | 'all servers' | 'PostgreSQL' | 'all servers and PostgreSQL';
  servers: readonly ClusterServer[];
  hitsPostgres: boolean;
}

/** How often each is chosen, relative to the others. */
const KINDS: readonly [Blow['kind'], number][] = [
  ['one server', 4],
  ['some servers', 2],
  ['all servers', 1],
  ['PostgreSQL', 1],
  ['all servers and PostgreSQL', 2],
];
const DECK = KINDS.flatMap(([kind, times]) => Array.from({ length: times }, () => kind));

export function chooseBlow({ servers }: ServerCluster, random: Random): Blow {
  const drawn = random.pick(DECK) ?? 'one server';
  // Of two servers, some of them is one.
  const kind = drawn === 'some servers' && servers.length < 3 ? 'one server' : drawn;
  const count = {
    'one server': 1,
    'some servers': 2 + random.below(Math.max(servers.length - 2, 1)),
    'all servers': servers.length,
    PostgreSQL: 0,
    'all servers and PostgreSQL': servers.length,
  }[kind];
  const left = [...servers];
  const hit = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat();
  return { kind, servers: hit, hitsPostgres: kind.endsWith('PostgreSQL') };
}

/** Kills all that the blow hits at the same moment. */
export async function strike({ servers, hitsPostgres }: Blow, postgres: Cluster): Promise<void> {
  const kills = servers.map((server) => server.kill());
  if (hitsPostgres) await postgres.kill();
  await Promise.all(kills);
}
