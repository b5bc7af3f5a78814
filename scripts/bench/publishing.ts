/**
 * Measures what it takes to publish a version of ten files over HTTP: compared with the flushes that it needs, with
 * stock git, and with few and with many versions in the repository.
 */

import { join } from 'node:path';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import type { Client, Reply } from '../../test/support/client.ts';
import { startHawser } from '../../test/support/hawser.ts';
import { cpuSecondsOf } from './cpu.ts';
import { filesOf, VERSIONS } from './fleet.ts';
import { BareFlushes, CountingDisk, type Flushes } from './flushes.ts';
import { manyRounds, SCALE_TARGET } from './list-timing.ts';
import { median, middleHalf } from './measure.ts';
import { expect } from './probe.ts';
import type { Processes } from './processes.ts';
import { formatRange, table, verdict } from './report.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import { type Effort, GROWTH_TARGET } from './scenarios.ts';
import { StockGit } from './stock-git.ts';
import { MANY, makeSite, type Site, timed } from './versions.ts';

/** The most time allowed, as a multiple of the bare flushes. */
const FLUSH_TARGET = 3;
/** The most time allowed for a publish, as a multiple of what stock git takes to commit and tag the same files. */
const STOCK_TARGET = 0.3;
const CONFIGURATIONS = '/api/v1/configurations';
const METRICS_TOKEN = 'a-token-for-the-metrics';
/** The first versions of a repository flush more than later ones, so they do not count. */
const COUNTED_MINOR = 3;
/**
 * The number of publishes before the measured ones. V8 compiles code that runs often, and polls too are measured only
 * when warm.
 */
const WARM_UP = 150;
const COMPARED = `${VERSIONS} : ${MANY} versions`;

/** The server and client with which versions are published. */
export interface Author {
  client: Client;
  name: string;
}

export const ACTS = [
  { what: 'new draft of ten files', act: draft },
  { what: 'publish', act: publish },
];

/**
 * One operation of a round, in milliseconds: wall time as the client sees it, the server's CPU, and the bare flushes.
 */
interface Sample {
  ms: number;
  cpu: number;
  bare: number;
}

/** One operation on the repository with few or with many versions; medians of the rounds. */
interface PublishRow {
  what: string;
  versions: number;
  flushes: Flushes;
  ms: number;
  cpu: number;
  bare: number;
  /** The median of the ratios of the rounds, time to bare flushes, and the middle half of these ratios. */
  ratio: number;
  ratioRange: [lower: number, upper: number];
  met: boolean;
}

export interface PublishResults {
  rows: PublishRow[];
  growth: ScaleRow[];
  stock: ScaleRow[];
}

/** @param progress is called with what begins */
export async function measurePublishing(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<PublishResults> {
  progress('counting the flushes of a publishing');
  const flushes = await countFlushes();
  const sites = {
    few: await makeSite(join(folder, 'few-published'), template, VERSIONS, processes),
    many: await makeSite(join(folder, 'many-published'), template, MANY, processes),
  };
  for (const { client } of Object.values(sites)) await warmUp({ client, name: 'warm-up' });
  progress('measuring: publishing');
  const bare = new BareFlushes(join(folder, 'bare-flushes'));
  const git = new StockGit(join(folder, 'stock-git'));
  await git.begin(contentOf(0));
  const gitTimes: number[] = [];
  const samples = ACTS.map(() => ({ few: [] as Sample[], many: [] as Sample[] }));
  const polls = { few: [] as number[], many: [] as number[] };
  await inTurn(manyRounds(effort), async (side, counts) => {
    const site = sites[side];
    for (const [at, { act }] of ACTS.entries()) {
      const sample = await takeSample(site.pid, () => act(site, site.nextMinor));
      const taken = { ...sample, bare: await bare.time(flushes[at] as Flushes) };
      if (counts) samples[at]?.[side].push(taken);
    }
    const ms = await pollAfter(site);
    if (counts) polls[side].push(ms);
    if (side === 'few') {
      const gitTime = await git.publish(`1.${site.nextMinor}.0`, contentOf(site.nextMinor));
      if (counts) gitTimes.push(gitTime);
    }
    site.nextMinor += 1;
  });
  bare.close();
  git.remove();
  for (const { client } of Object.values(sites)) client.close();
  const rowsOf = (side: Side, versions: number) =>
    ACTS.map(({ what }, at) => rowOf(what, versions, flushes[at] as Flushes, samples[at]?.[side] ?? []));
  return {
    rows: [...rowsOf('few', VERSIONS), ...rowsOf('many', MANY)],
    growth: [
      ...ACTS.flatMap(({ what }, at) => growthOf(what, samples[at] ?? { few: [], many: [] })),
      scaleRow('first poll after', COMPARED, polls, SCALE_TARGET),
    ],
    stock: besideGit(
      gitTimes,
      samples.map(({ few }) => few.map(({ ms }) => ms)),
    ),
  };
}

/** Counts the flushes of each operation, in a server in this process: it runs the same code on a disk that counts. */
async function countFlushes(): Promise<Flushes[]> {
  const disk = new CountingDisk();
  const hawser = await startHawser({ HAWSER_METRICS_TOKEN: METRICS_TOKEN }, { fs: new AtomicFs(disk) });
  try {
    const author = { client: hawser.admin, name: 'counted' };
    await begin(author);
    const counted: Flushes[] = [];
    for (let minor = 1; minor <= COUNTED_MINOR; minor += 1) {
      for (const [at, { act }] of ACTS.entries()) {
        disk.flushed = [];
        const before = await commitsOf(hawser.client());
        await act(author, minor);
        counted[at] = { files: disk.flushed, commits: (await commitsOf(hawser.client())) - before };
      }
    }
    return counted;
  } finally {
    await hawser.close();
  }
}

/** How often the writing connection was used. Nothing else writes meanwhile. */
async function commitsOf(client: Client): Promise<number> {
  const reply = await client.get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` });
  expect(reply.status === 200, 'the metrics', reply);
  return Number(/^hawser_database_write_duration_seconds_count (\d+)/m.exec(reply.text)?.[1]);
}

/** Makes the configuration, and publishes its first version. */
export async function begin(author: Author): Promise<void> {
  const first = { fields: { name: author.name, version: '1.0.0' }, files: contentOf(0) };
  const reply = await author.client.upload(CONFIGURATIONS, first);
  expect(reply.status === 201, 'a new configuration', reply);
  await publish(author, 0);
}

/** Publishes in another configuration, because the measured one must keep its number of versions. */
async function warmUp(author: Author): Promise<void> {
  await begin(author);
  for (let minor = 1; minor <= WARM_UP; minor += 1) {
    for (const { act } of ACTS) await act(author, minor);
  }
}

async function draft({ client, name }: Author, minor: number): Promise<Reply> {
  const form = { fields: { version: `1.${minor}.0` }, files: contentOf(minor) };
  const reply = await client.upload(`${CONFIGURATIONS}/${name}/versions`, form);
  expect(reply.status === 201, 'a new draft', reply);
  return reply;
}

async function publish({ client, name }: Author, minor: number): Promise<Reply> {
  const reply = await client.put(`${CONFIGURATIONS}/${name}/versions/1.${minor}.0/publish`);
  expect(reply.status === 200, 'a publishing', reply);
  return reply;
}

/**
 * Polls after a publish. The server must find the new version and read its details.
 * @returns milliseconds
 */
async function pollAfter({ client, nodeId, nextMinor }: Site): Promise<number> {
  const { ms, reply } = await timed(() => client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`));
  expect(reply.status === 200 && reply.json.version === `1.${nextMinor}.0`, 'a poll', reply);
  return ms;
}

export function contentOf(minor: number): Record<string, Buffer> {
  return Object.fromEntries(filesOf(minor).map(({ path, content }) => [path, content]));
}

async function takeSample(pid: number, send: () => Promise<Reply>): Promise<Omit<Sample, 'bare'>> {
  const before = cpuSecondsOf(pid);
  const { ms } = await timed(send);
  return { ms, cpu: (cpuSecondsOf(pid) - before) * 1_000 };
}

function rowOf(what: string, versions: number, flushes: Flushes, samples: readonly Sample[]): PublishRow {
  const ratios = samples.map(({ ms, bare }) => ms / bare);
  const middle = (pick: (sample: Sample) => number) => median(samples.map(pick));
  return {
    ...{ what, versions, flushes },
    ...{ ms: middle(({ ms }) => ms), cpu: middle(({ cpu }) => cpu), bare: middle(({ bare }) => bare) },
    ...{ ratio: median(ratios), ratioRange: middleHalf(ratios), met: median(ratios) <= FLUSH_TARGET },
  };
}

function growthOf(what: string, { few, many }: Record<Side, readonly Sample[]>): ScaleRow[] {
  const pick = (name: 'ms' | 'cpu') => ({
    few: few.map((sample) => sample[name]),
    many: many.map((sample) => sample[name]),
  });
  return [
    scaleRow(what, COMPARED, pick('ms'), GROWTH_TARGET),
    scaleRow(`${what}, CPU`, COMPARED, pick('cpu'), null),
  ];
}

/** @param times milliseconds of the drafts and of the publishes, by round */
function besideGit(git: readonly number[], [drafts = [], publishes = []]: readonly number[][]): ScaleRow[] {
  const both = publishes.map((ms, round) => ms + (drafts[round] ?? 0));
  const row = (what: string, many: readonly number[], target: number | null) =>
    scaleRow(what, `commit -a, tag -a : ${what}`, { few: git, many }, target);
  return [row('publish', publishes, STOCK_TARGET), row('draft and publish', both, null)];
}

const COLUMNS = [
  'publishing',
  'flushes',
  'versions',
  'bare ms',
  'ms',
  'CPU ms',
  'ratio',
  'half within',
  'target',
  '',
];

export function formatPublishing({ rows, growth, stock }: PublishResults): string {
  const cells = rows.map(({ what, versions, flushes, ms, cpu, bare, ratio, ratioRange, met }) => [
    what,
    formatFlushes(flushes),
    String(versions),
    ...[bare, ms, cpu].map((value) => value.toFixed(1)),
    `${ratio.toFixed(2)} x`,
    formatRange(ratioRange),
    `${FLUSH_TARGET.toFixed(2)} x`,
    verdict(met),
  ]);
  return [
    ...[...table([COLUMNS, ...cells]), ''],
    ...[formatScale('publishing, as versions grow', growth), ''],
    formatScale('publishing, beside stock git', stock, ['git', 'Hawser']),
  ].join('\n');
}

function formatFlushes({ files, commits }: Flushes): string {
  const folders = files.filter((bytes) => bytes === null).length;
  return `${files.length - folders} files, ${folders} folders, ${commits} commits`;
}
