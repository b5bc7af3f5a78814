/**
 * Compares a server on PostgreSQL with one on SQLite: polls, what users do, publishing, and how fast check-ins and reports
 * are taken. Both are measured in the same run and take turns.
 */

import { join } from 'node:path';
import type { Client } from '../../test/support/client.ts';
import { type Fleet, makeFleet, makeIdentities } from './fleet.ts';
import { compare, manyRounds, type Timing, timeAnswer, timeList } from './list-timing.ts';
import { type Contender, measure } from './measure.ts';
import { BenchCluster } from './postgres-cluster.ts';
import {
  type CheckInResult,
  formatCheckIns,
  formatIntake,
  type IntakeResult,
  measureCheckIns,
  measureIntake,
} from './postgres-writes.ts';
import { expect, probe, signIn, visitAll } from './probe.ts';
import type { LoadGenerator, Processes, ServerProcess } from './processes.ts';
import { ACTS, begin } from './publishing.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import { type Effort, SCENARIOS, type Scenario } from './scenarios.ts';
import { timed } from './versions.ts';

/** The most processor time of a poll, as a multiple of SQLite's. */
const POLL_TARGET = 1.1;
/** Keep-alive polls of the checksum, with and without an answer that the node has already. */
const POLLS = SCENARIOS.filter(({ resource, newConnections }) => resource === 'checksum' && !newConnections);
const TAKE = 100;
const READS_AT_ONCE = 40;
const CHANGES_AT_ONCE = 10;
/** V8 compiles code that runs often, so a publish is measured only after so many. */
const WARM_UP = 30;
const PUBLISHED = 'published-by-the-bench';

export interface PostgresResults {
  rows: ScaleRow[];
  checkIns: CheckInResult[];
  reports: IntakeResult[];
}

interface Site {
  fleet: Fleet;
  server: ServerProcess;
  client: Client;
}

/** SQLite is the side `few`, and PostgreSQL the side `many`. */
type Sites = Record<Side, Site>;

/** @param progress is called with what begins */
export async function measurePostgres(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<PostgresResults> {
  const cluster = await BenchCluster.make();
  try {
    progress('making a fleet on SQLite and on PostgreSQL');
    const sites = {
      few: await makeSite(join(folder, 'on-sqlite'), template, processes, effort, null),
      many: await makeSite(join(folder, 'on-postgres'), template, processes, effort, await cluster.newUrl()),
    };
    const generator = processes.startGenerator();
    const rows: ScaleRow[] = [];
    for (const scenario of POLLS) {
      progress(`measuring on both: ${scenario.label}`);
      rows.push(await comparePolls(sites, scenario, generator, effort));
    }
    progress('measuring on both: what users do');
    rows.push(...(await compareDeeds(sites, effort)), ...(await comparePublishing(sites, effort)));
    for (const { client, server } of Object.values(sites)) {
      client.close();
      await processes.end(server);
    }
    progress('measuring on both: check-ins');
    const checkIns = await measureCheckIns(join(folder, 'check-ins'), template, cluster, effort);
    progress('measuring on both: reports');
    const reports = await measureIntake(join(folder, 'intake'), template, cluster, processes, effort);
    return { rows, checkIns, reports };
  } finally {
    await cluster.remove();
  }
}

async function makeSite(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  databaseUrl: string | null,
): Promise<Site> {
  const identities = await makeIdentities(effort.connections);
  const fleet = await makeFleet(folder, template, effort.large, identities, databaseUrl);
  const settings: Record<string, string> = databaseUrl === null ? {} : { HAWSER_DATABASE_URL: databaseUrl };
  const server = await processes.startHawser(folder, { settings });
  await visitAll(server.endpoint, fleet);
  return { fleet, server, client: await signIn(server.endpoint) };
}

async function comparePolls(
  sites: Sites,
  scenario: Scenario,
  generator: LoadGenerator,
  effort: Effort,
): Promise<ScaleRow> {
  const contenders: Contender[] = [];
  for (const { fleet, server } of [sites.few, sites.many])
    contenders.push({ server, clients: (await probe(server.endpoint, fleet, scenario)).clients });
  const samples = await measure(generator, scenario, contenders, effort);
  const [few = [], many = []] = samples.map((ofOne) => ofOne.map(({ cpu }) => cpu));
  return scaleRow(`1,000 polls, CPU, ${scenario.label}`, comparedOf(effort), { few, many }, POLL_TARGET);
}

const comparedOf = ({ large }: Effort) => `${large.configurations} conf., ${large.nodes} nodes`;

/** What users do has no targets. It is measured so that its cost is known. */
async function compareDeeds(sites: Sites, effort: Effort): Promise<ScaleRow[]> {
  const path = `/api/v1/nodes?take=${TAKE}`;
  const deeds: [what: string, timingOf: (site: Site) => Timing][] = [
    ['list of 100 nodes', ({ client }) => timeList(client, path, TAKE)],
    ['read what a node is to do', ({ client, fleet }) => timeAnswer(client, wishesOf(fleet), READS_AT_ONCE)],
    ['PUT it', timeChanges],
  ];
  const rows: ScaleRow[] = [];
  for (const [what, timingOf] of deeds) {
    const pair = { few: timingOf(sites.few), many: timingOf(sites.many) };
    rows.push(await compare(what, comparedOf(effort), pair, effort, null));
  }
  return rows;
}

async function comparePublishing(sites: Sites, effort: Effort): Promise<ScaleRow[]> {
  for (const { client } of Object.values(sites)) await warmUp(client);
  const next = { few: WARM_UP, many: WARM_UP };
  const times = ACTS.map(() => ({ few: [] as number[], many: [] as number[] }));
  await inTurn(manyRounds(effort), async (side, counts) => {
    next[side] += 1;
    for (const [at, { act }] of ACTS.entries()) {
      const author = { client: sites[side].client, name: PUBLISHED };
      const { ms } = await timed(() => act(author, next[side]));
      if (counts) times[at]?.[side].push(ms);
    }
  });
  return ACTS.map(({ what }, at) =>
    scaleRow(what, comparedOf(effort), times[at] ?? { few: [], many: [] }, null),
  );
}

const wishesOf = ({ oneNodeEach }: Fleet) => `/api/v1/nodes/${oneNodeEach[0]}/lcm-config`;

/** Milliseconds of a change of what a node is to do. */
function timeChanges({ client, fleet }: Site): Timing {
  let reportCompliance = false;
  return async () => {
    const start = performance.now();
    for (let change = 0; change < CHANGES_AT_ONCE; change += 1) {
      reportCompliance = !reportCompliance;
      const reply = await client.put(wishesOf(fleet), { reportCompliance });
      expect(reply.status === 200 && reply.json.reportCompliance === reportCompliance, 'a change', reply);
    }
    return (performance.now() - start) / CHANGES_AT_ONCE;
  };
}

async function warmUp(client: Client): Promise<void> {
  const author = { client, name: PUBLISHED };
  await begin(author);
  for (let minor = 1; minor <= WARM_UP; minor += 1) for (const { act } of ACTS) await act(author, minor);
}

export function formatPostgres({ rows, checkIns, reports }: PostgresResults): string {
  return [
    formatScale('PostgreSQL beside SQLite', rows, ['SQLite', 'PostgreSQL']),
    formatCheckIns(checkIns),
    formatIntake(reports),
  ].join('\n\n');
}
