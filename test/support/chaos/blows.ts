/** What a round does to the cluster. */

import type { ServerCluster } from '../cluster/cluster.ts';
import type { ClusterServer } from '../cluster/server.ts';
import type { Random } from '../crash/random.ts';
import type { Cluster } from '../postgres.ts';

/** A blow kills some servers and perhaps PostgreSQL, or makes a server stand still for a while. */
export interface Blow {
  kind:
    | 'one server'
    | 'some servers'
    | 'all servers'
    | 'PostgreSQL'
    | 'all servers and PostgreSQL'
    | 'a frozen server';
  servers: readonly ClusterServer[];
  hitsPostgres: boolean;
  /** Milliseconds for which the server stands still; 0 where servers are killed. */
  frozenFor: number;
}

/** How often each is chosen, relative to the others. */
const KINDS: readonly [Blow['kind'], number][] = [
  ['one server', 4],
  ['some servers', 2],
  ['all servers', 1],
  ['PostgreSQL', 1],
  ['all servers and PostgreSQL', 2],
  ['a frozen server', 2],
];
/** Milliseconds. PostgreSQL ends by then what a frozen server has begun. */
const SHORTEST_FREEZE = 5_000;
const DECK = KINDS.flatMap(([kind, times]) => Array.from({ length: times }, () => kind));

/** @param longestFreeze in milliseconds */
export function chooseBlow({ servers }: ServerCluster, random: Random, longestFreeze: number): Blow {
  const drawn = random.pick(DECK) ?? 'one server';
  // Of two servers, some of them is one.
  const kind = drawn === 'some servers' && servers.length < 3 ? 'one server' : drawn;
  const count = {
    'one server': 1,
    'a frozen server': 1,
    'some servers': 2 + random.below(Math.max(servers.length - 2, 1)),
    'all servers': servers.length,
    PostgreSQL: 0,
    'all servers and PostgreSQL': servers.length,
  }[kind];
  const left = [...servers];
  const hit = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)).flat();
  const isFreeze = kind === 'a frozen server';
  const frozenFor = isFreeze ? SHORTEST_FREEZE + random.below(longestFreeze - SHORTEST_FREEZE) : 0;
  return { kind, servers: hit, hitsPostgres: kind.endsWith('PostgreSQL'), frozenFor };
}

/** Hits all that the blow hits at the same moment. */
export async function strike({ servers, hitsPostgres, frozenFor }: Blow, postgres: Cluster): Promise<void> {
  if (frozenFor > 0) {
    for (const server of servers) server.freeze();
    return;
  }
  const kills = servers.map((server) => server.kill());
  if (hitsPostgres) await postgres.kill();
  await Promise.all(kills);
}
