/** What many versions cost: lists, publishing and resolving, few versions against many. Over HTTP, one at a time. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Reply } from '../../test/support/client.ts';
import { type Fleet, filesOf, makeFleet, VERSIONS } from './fleet.ts';
import { compare, manyRounds, type Pair, SCALE_TARGET, type Timing, timeList } from './list-timing.ts';
import { makeManyVersions } from './many-versions.ts';
import { expect, signIn, visitAll } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { inTurn, type ScaleRow, scaleRow } from './scale.ts';
import { type Effort, SMALL } from './scenarios.ts';

const MANY = 2_000;
const CONFIGURATIONS = '/api/v1/configurations';

export interface Hosted {
  fleet: Fleet;
  server: ServerProcess;
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
    timeList(client, `${CONFIGURATIONS}?take=${take}`, take, { items });
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
  await inTurn(manyRounds(effort), async (side, counts) => {
    const times = await publishAndPoll(side === 'few' ? few : many);
    if (counts) for (const [at, step] of steps.entries()) step[side].push(times[at] ?? Number.NaN);
  });
  return steps.map((step) => scaleRow(step.what, compared, step, SCALE_TARGET));
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

export async function timed(send: () => Promise<Reply>): Promise<{ ms: number; reply: Reply }> {
  const start = performance.now();
  const reply = await send();
  return { ms: performance.now() - start, reply };
}
