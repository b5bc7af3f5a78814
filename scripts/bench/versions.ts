/** What many versions cost: lists, publishing and resolving, few versions against many. Over HTTP, one at a time. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Reply } from '../../test/support/client.ts';
import { type Fleet, filesOf, makeFleet, VERSIONS } from './fleet.ts';
import { makeManyVersions } from './many-versions.ts';
import { median } from './measure.ts';
import { expect, signIn, visitAll } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { table, verdict } from './report.ts';
import { type Effort, SMALL } from './scenarios.ts';

/** Most time allowed with many as a multiple of that with few. */
const SCALE_TARGET = 1.5;
const MANY = 2_000;
const LIST_REQUESTS = 40;
/** A round is short here, so there are more of them. */
const ROUNDS_FACTOR = 3;
const CONFIGURATIONS = '/api/v1/configurations';

export interface ScaleRow {
  what: string;
  compared: string;
  /** Milliseconds, medians of the rounds. */
  few: number;
  many: number;
  /** The median of the rounds' own ratios. */
  ratio: number;
  /** The middle half of those. */
  ratioRange: [lower: number, upper: number];
  target: number;
  met: boolean;
}

export interface Hosted {
  fleet: Fleet;
  server: ServerProcess;
}

/** Milliseconds that something took once. */
type Timing = () => Promise<number>;

/** Two timings of one kind. */
interface Pair {
  few: Timing;
  many: Timing;
}

interface Site {
  client: Client;
  name: string;
  nodeId: string;
  /** Of the next version to be published. */
  nextMinor: number;
}

/** The list of configurations, on the small and on the large fleet. */
export async function measureLists([small, large]: readonly Hosted[], effort: Effort): Promise<ScaleRow[]> {
  if (!small || !large) throw new Error('two fleets are needed');
  const [few, many] = [await signIn(small.server.endpoint), await signIn(large.server.endpoint)];
  const list = (client: Client, take: number, items = 1) =>
    timeList(client, `${CONFIGURATIONS}?take=${take}`, take, items);
  const sizes = `${SMALL.configurations} : ${effort.large.configurations} x ${VERSIONS} versions`;
  const [byTotal, byPage] = [
    { few: list(few, 10), many: list(many, 10) },
    { few: list(many, 10, 10), many: list(many, 100, 100) },
  ];
  const rows = [
    await compare('configuration list, take=10', sizes, byTotal, effort),
    await compare('configuration list, per item', 'take=10 : take=100, large', byPage, effort),
  ];
  few.close();
  many.close();
  return rows;
}

/** One repository each with few and with many versions, on a server of its own. */
export async function measureVersions(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
): Promise<ScaleRow[]> {
  const few = await makeSite(join(folder, 'few'), template, VERSIONS, processes);
  const many = await makeSite(join(folder, 'many'), template, MANY, processes);
  const pair = (timing: (site: Site) => Timing): Pair => ({ few: timing(few), many: timing(many) });
  const compared = `${VERSIONS} : ${MANY} versions`;
  const list = pair(({ client, name }) => timeList(client, `${CONFIGURATIONS}/${name}/versions?take=20`, 20));
  const rows = [await compare('version list, take=20', compared, list, effort)];
  rows.push(...(await comparePublishing(few, many, compared, effort)));
  few.client.close();
  many.client.close();
  return rows;
}

async function makeSite(
  folder: string,
  template: string,
  versions: number,
  processes: Processes,
): Promise<Site> {
  mkdirSync(folder);
  const source = join(folder, 'template.git');
  makeManyVersions(source, template, versions);
  const fleet = await makeFleet(folder, source, { configurations: 1, nodes: 1 }, []);
  const { endpoint } = await processes.startHawser(folder);
  // Checks every tag, which is done once in a repository's life.
  await visitAll(endpoint, fleet);
  const client = await signIn(endpoint);
  const reply = await client.get(`${CONFIGURATIONS}?take=1`);
  expect(reply.status === 200 && reply.json[0]?.versionCount === versions, 'the count of versions', reply);
  return { client, name: reply.json[0].name, nodeId: fleet.oneNodeEach[0] ?? '', nextMinor: VERSIONS };
}

/** Publishing and the first poll after it, which has to find the new version and read its details. */
async function comparePublishing(
  few: Site,
  many: Site,
  compared: string,
  effort: Effort,
): Promise<ScaleRow[]> {
  const steps: { what: string; few: number[]; many: number[] }[] = [
    { what: 'new draft of ten files', few: [], many: [] },
    { what: 'publish', few: [], many: [] },
    { what: 'resolve, first poll after', few: [], many: [] },
  ];
  await inTurn(effort, async (side, counts) => {
    const times = await publishAndPoll(side === 'few' ? few : many);
    if (counts) for (const [at, step] of steps.entries()) step[side].push(times[at] ?? Number.NaN);
  });
  return steps.map((step) => rowOf(step.what, compared, step.few, step.many));
}

/** @returns milliseconds of the draft, of the publishing and of the poll */
async function publishAndPoll(site: Site): Promise<number[]> {
  const { client, name, nodeId } = site;
  const version = `1.${site.nextMinor}.0`;
  const files = Object.fromEntries(filesOf(site.nextMinor).map(({ path, content }) => [path, content]));
  site.nextMinor += 1;
  const versions = `${CONFIGURATIONS}/${name}/versions`;
  const draft = await timed(() => client.upload(versions, { fields: { version }, files }));
  expect(draft.reply.status === 201, 'a new draft', draft.reply);
  const published = await timed(() => client.put(`${versions}/${version}/publish`));
  expect(published.reply.status === 200, 'a publishing', published.reply);
  const poll = await timed(() => client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`));
  expect(poll.reply.status === 200 && poll.reply.json.version === version, 'a poll', poll.reply);
  return [draft.ms, published.ms, poll.ms];
}

/** Milliseconds per request and `items`, as the mean of a burst. */
function timeList(client: Client, path: string, expected: number, items = 1): Timing {
  return async () => {
    const start = performance.now();
    let last: Reply | undefined;
    for (let request = 0; request < LIST_REQUESTS; request += 1) last = await client.get(path);
    const ms = (performance.now() - start) / LIST_REQUESTS;
    if (last) expect(last.status === 200 && last.json.length === expected, 'a list', last);
    return ms / items;
  };
}

async function timed(send: () => Promise<Reply>): Promise<{ ms: number; reply: Reply }> {
  const start = performance.now();
  const reply = await send();
  return { ms: performance.now() - start, reply };
}

async function compare(what: string, compared: string, pair: Pair, effort: Effort): Promise<ScaleRow> {
  const times = { few: [] as number[], many: [] as number[] };
  await inTurn(effort, async (side, counts) => {
    const ms = await pair[side]();
    if (counts) times[side].push(ms);
  });
  return rowOf(what, compared, times.few, times.many);
}

/** Rounds of both sides, each beginning with the other one; the first of them do not count. */
async function inTurn(
  effort: Effort,
  run: (side: 'few' | 'many', counts: boolean) => Promise<void>,
): Promise<void> {
  const rounds = effort.rounds * ROUNDS_FACTOR;
  for (let round = -effort.warmUpRounds; round < rounds; round += 1) {
    const sides = round % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const);
    for (const side of sides) await run(side, round >= 0);
  }
}

function rowOf(what: string, compared: string, few: readonly number[], many: readonly number[]): ScaleRow {
  const ratios = many.map((ms, round) => ms / (few[round] ?? Number.NaN)).sort((a, b) => a - b);
  const ratio = median(ratios);
  const quartile = (share: number) => ratios[Math.round(share * (ratios.length - 1))] ?? Number.NaN;
  const ratioRange: ScaleRow['ratioRange'] = [quartile(0.25), quartile(0.75)];
  const met = ratio <= SCALE_TARGET;
  return {
    what,
    compared,
    few: median(few),
    many: median(many),
    ratio,
    ratioRange,
    target: SCALE_TARGET,
    met,
  };
}

export function formatScale(rows: readonly ScaleRow[]): string {
  const cells = rows.map((row) => [
    row.what,
    row.compared,
    row.few.toFixed(3),
    row.many.toFixed(3),
    `${row.ratio.toFixed(2)} x`,
    row.ratioRange.map((bound) => bound.toFixed(2)).join('-'),
    `${row.target.toFixed(2)} x`,
    verdict(row.met),
  ]);
  const missed = rows.filter(({ met }) => !met).length;
  return [
    ...table([
      ['many versions', 'few : many', 'ms few', 'ms many', 'ratio', 'half within', 'target', ''],
      ...cells,
    ]),
    '',
    missed === 0 ? `all ${rows.length} targets met` : `MISSED: ${missed} of ${rows.length} targets`,
  ].join('\n');
}
