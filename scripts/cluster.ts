/**
 * `npm run cluster -- --servers 3` starts PostgreSQL, several servers and HAProxy on this machine, for whoever wants to look.
 * With the options of the fleet simulator, such as `--nodes 200`, it runs that against them instead and ends.
 */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { REAL_HASHES } from '../test/support/cheap-hashes.ts';
import { ServerCluster } from '../test/support/cluster/cluster.ts';
import { ownCluster } from '../test/support/postgres.ts';
import { makeToken } from './fleet/operator.ts';
import { type FleetOptions, readOptions } from './fleet/options.ts';
import { formatReport } from './fleet/report.ts';
import { runFleet } from './fleet/run.ts';
import { nextSignal } from './support/cleanup.ts';
import { toCount } from './support/command-line.ts';

const USAGE = `npm run cluster -- [--servers N] [options of npm run fleet]
  --servers N  how many servers there are (3)
Without an option of the fleet simulator, all stays until Ctrl-C.`;

/** Milliseconds after which every server offers what was published at one of them. */
const LAG = 1_000;

interface Wish {
  servers: number;
  /** Null where nothing is simulated. */
  fleet: FleetOptions | null;
}

function readWish(args: readonly string[]): Wish {
  const at = args.indexOf('--servers');
  const servers = at === -1 ? 3 : (toCount(args[at + 1]) ?? 0);
  if (servers < 1 || servers > 20) throw new Error('--servers: expected a whole number from 1 to 20');
  const others = at === -1 ? args : args.toSpliced(at, 2);
  const fleet = others.length === 0 ? null : readOptions(others);
  if (fleet !== null && (fleet.server !== null || fleet.withBackup))
    throw new Error('--url and --with-backup have no meaning here');
  return { servers, fleet };
}

function invitation(cluster: ServerCluster, databaseUrl: string, password: string): string {
  const lines = cluster.servers.map(
    ({ number, port, folder }) => `    server ${number}   https://localhost:${port}/ui/ in ${folder}`,
  );
  const { servers, target, isBalanced } = cluster;
  const all = isBalanced
    ? `https://localhost:${target.port}/ui/ by HAProxy, which leads to one of them`
    : 'none: HAProxy is not installed (apt-get install haproxy)';
  const [first] = servers;
  return `
${lines.join('\n')}
    all        ${all}
    user name  admin
    password   ${password}
    authority  ${join(first?.dataDir ?? '', 'tls/ca.crt')}
    database   ${databaseUrl}
Things to try: publish at one server and look at another; kill one (kill -9 $(head -1 ${first?.dataDir}/hawser.pid)) and go on
through HAProxy; delete ${first?.reposDir} and clone.
Ctrl-C stops everything and removes all that was stored.`;
}

/** Runs the simulated fleet through HAProxy. */
async function simulate(cluster: ServerCluster, password: string, fleet: FleetOptions): Promise<void> {
  const { target, isBalanced } = cluster;
  const tell = (message: string) => console.error(`cluster: ${message}`);
  if (!isBalanced) tell('there is no HAProxy, so all nodes call the first server');
  const token = await makeToken(target, password);
  const server = { target, token, pid: null, lag: LAG, close: async () => undefined };
  const report = await runFleet(fleet, server, tell);
  console.log(formatReport(report));
  if (report.measurements.faultCount > 0) process.exitCode = 1;
}

async function main({ servers, fleet }: Wish, signal: Promise<void>): Promise<void> {
  const password = randomBytes(18).toString('base64url');
  const own = await ownCluster();
  const settings = { HAWSER_ADMIN_PASSWORD: password, ...REAL_HASHES };
  const cluster = await ServerCluster.make(await own.newDatabase(), { servers, settings });
  try {
    await Promise.race([signal, cluster.start()]);
    if (fleet !== null) return await Promise.race([signal, simulate(cluster, password, fleet)]);
    console.log(invitation(cluster, cluster.database.url, password));
    await signal;
  } finally {
    await cluster.close();
    await own.cluster.remove();
  }
}

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(USAGE);
else {
  try {
    await main(readWish(args), nextSignal());
  } catch (error) {
    console.error(`cluster: ${(error as Error).message}`);
    process.exitCode = 1;
  }
  // A run that was broken off would go on with its nodes.
  process.exit();
}
