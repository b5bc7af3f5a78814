/** Measures what a server does whose cache of repositories is empty: the first clone, and the first polls after a start. */

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../test/support/client.ts';
import { type GitClient, gitClient } from '../../test/support/git-client.ts';
import { type Fleet, makeFleet } from './fleet.ts';
import { makeManyVersions } from './many-versions.ts';
import { expect, signIn } from './probe.ts';
import type { ServerProcess } from './processes.ts';
import { type ScaleRow, scaleRow } from './scale.ts';
import type { Stage } from './servers.ts';
import { PROXY_ADDRESS, visitByProxy } from './visits.ts';

const NAME = 'configuration-0000';
/** In this order the warm state finds the cache that the cold state has filled. */
const STATES = ['SQLite', 'cold', 'warm'] as const;
type State = (typeof STATES)[number];
type Times = Record<State, number[]>;

/** Ratios of pairs of states: the baseline, and what is compared with it. */
const PAIRS: readonly [baseline: State, measured: State][] = [
  ['SQLite', 'warm'],
  ['SQLite', 'cold'],
  ['warm', 'cold'],
];

const noTimes = (): Times => ({ SQLite: [], cold: [], warm: [] });

/** The times that count, by state. Each round measures all states. */
async function inRounds(count: number, measureOne: (state: State) => Promise<number>): Promise<Times> {
  const times = noTimes();
  for (let round = -1; round < count; round += 1) {
    for (const state of STATES) {
      const ms = await measureOne(state);
      if (round >= 0) times[state].push(ms);
    }
  }
  return times;
}

function rowsOf(what: string, times: Times): ScaleRow[] {
  return PAIRS.map(([baseline, measured]) =>
    scaleRow(what, `${baseline} : ${measured}`, { few: times[baseline], many: times[measured] }, null),
  );
}

/** Each start is one round: the server starts, and then every node polls once through a proxy. */
export async function measureFirstPolls(
  { processes, effort: { servers } }: Stage,
  sqlite: Fleet,
  postgres: Fleet,
  url: string,
): Promise<ScaleRow[]> {
  const settings = { HAWSER_TRUSTED_PROXIES: PROXY_ADDRESS };
  const times = await inRounds(servers.starts, async (state) => {
    const fleet = state === 'SQLite' ? sqlite : postgres;
    if (state === 'cold') empty(join(fleet.folder, 'repos'));
    const ofPostgres = { ...settings, HAWSER_DATABASE_URL: url };
    const server = await processes.startHawser(fleet.folder, {
      settings: state === 'SQLite' ? settings : ofPostgres,
    });
    const start = performance.now();
    await visitByProxy(server.endpoint, fleet.connecting);
    const ms = performance.now() - start;
    await processes.end(server);
    return ms;
  });
  return rowsOf(`first polls, ${servers.configurations} conf.`, times);
}

interface CloneSite {
  server: ServerProcess;
  folder: string;
  git: GitClient;
  token: string;
}

/** The cache is emptied while the server serves. */
export async function measureClones(stage: Stage): Promise<ScaleRow[]> {
  const { folder, template, cluster, processes, effort } = stage;
  const { versions, clones } = effort.servers;
  const source = join(folder, 'cloned-template.git');
  makeManyVersions(source, template, versions);
  const url = await cluster.newUrl();
  const sites = {
    sqlite: await makeCloneSite(stage, join(folder, 'cloned-sqlite'), source, null),
    postgres: await makeCloneSite(stage, join(folder, 'cloned-postgres'), source, url),
  };
  const times = await inRounds(clones, (state) => {
    const site = state === 'SQLite' ? sites.sqlite : sites.postgres;
    if (state === 'cold') empty(join(site.folder, 'repos'));
    return clone(site, versions);
  });
  for (const { server, git } of Object.values(sites)) {
    git.close();
    await processes.end(server);
  }
  return rowsOf(`clone of ${versions} versions`, times);
}

async function makeCloneSite(
  { processes }: Stage,
  folder: string,
  source: string,
  url: string | null,
): Promise<CloneSite> {
  mkdirSync(folder, { recursive: true });
  await makeFleet(folder, source, { configurations: 1, nodes: 1 }, [], url);
  const server = await processes.startHawser(
    folder,
    url === null ? {} : { settings: { HAWSER_DATABASE_URL: url } },
  );
  const client = await signIn(server.endpoint);
  const token = await makeToken(client);
  client.close();
  const git = gitClient({ dataDir: join(folder, 'data'), server: { port: server.endpoint.port } });
  return { server, folder, git, token };
}

async function makeToken(client: Client): Promise<string> {
  const reply = await client.post('/api/v1/auth/tokens', {
    name: 'bench',
    scopes: ['configurations.admin-override'],
  });
  expect(reply.status === 201, 'a token', reply);
  return reply.json.token;
}

/** @returns milliseconds of a run of `git clone` */
async function clone({ git, token }: CloneSite, versions: number): Promise<number> {
  const into = 'clone.git';
  const start = performance.now();
  const { code, output } = await git.run(
    'clone',
    '-q',
    '--mirror',
    git.url(`configurations/${NAME}`, token),
    into,
  );
  const ms = performance.now() - start;
  if (code !== 0) throw new Error(`git clone: ${output}`);
  const tags = (await git.run('-C', join(git.folder, into), 'tag')).output.trim().split('\n');
  if (tags.length !== versions) throw new Error(`the clone has ${tags.length} of ${versions} versions`);
  rmSync(join(git.folder, into), { recursive: true });
  return ms;
}

/** Deletes all that is in the folder. */
function empty(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}
