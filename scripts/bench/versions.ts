/** Measures what lists cost as configurations and versions grow in number. Requests go over HTTP, one at a time. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Reply } from '../../test/support/client.ts';
import { type Fleet, makeFleet, VERSIONS } from './fleet.ts';
import { compare, type Pair, type Timing, timeList } from './list-timing.ts';
import { makeManyVersions } from './many-versions.ts';
import { expect, signIn, visitAll } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import type { ScaleRow } from './scale.ts';
import { type Effort, SMALL } from './scenarios.ts';

export const MANY = 2_000;
const CONFIGURATIONS = '/api/v1/configurations';

export interface Hosted {
  fleet: Fleet;
  server: ServerProcess;
}

/** A server with one configuration. */
export interface Site {
  client: Client;
  pid: number;
  name: string;
  nodeId: string;
  /** The minor number of the next version. */
  nextMinor: number;
  /** The highest published version, which the node gets. */
  highest: string;
}

/** Measures the list of configurations, on the small and on the large fleet. */
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

/** Measures two servers with one repository each, one with few and one with many versions. */
export async function measureVersions(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
): Promise<ScaleRow> {
  const few = await makeSite(join(folder, 'few'), template, VERSIONS, processes);
  const many = await makeSite(join(folder, 'many'), template, MANY, processes);
  const pair = (timing: (site: Site) => Timing): Pair => ({ few: timing(few), many: timing(many) });
  const compared = `${VERSIONS} : ${MANY} versions`;
  const list = pair(({ client, name }) => timeList(client, `${CONFIGURATIONS}/${name}/versions?take=20`, 20));
  const row = await compare('version list, take=20', compared, list, effort);
  few.client.close();
  many.client.close();
  return row;
}

export async function makeSite(
  folder: string,
  template: string,
  versions: number,
  processes: Processes,
): Promise<Site> {
  mkdirSync(folder);
  const source = join(folder, 'template.git');
  makeManyVersions(source, template, versions);
  const fleet = await makeFleet(folder, source, { configurations: 1, nodes: 1 }, []);
  const { endpoint, pid } = await processes.startHawser(folder);
  // This makes the server check every tag, which happens once for each repository.
  await visitAll(endpoint, fleet);
  const client = await signIn(endpoint);
  const reply = await client.get(`${CONFIGURATIONS}?take=1`);
  expect(reply.status === 200 && reply.json[0]?.versionCount === versions, 'the count of versions', reply);
  const { name, latestPublishedVersion: highest } = reply.json[0];
  return { client, pid, name, highest, nodeId: fleet.oneNodeEach[0] ?? '', nextMinor: VERSIONS };
}

export async function timed(send: () => Promise<Reply>): Promise<{ ms: number; reply: Reply }> {
  const start = performance.now();
  const reply = await send();
  return { ms: performance.now() - start, reply };
}
