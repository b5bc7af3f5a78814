/**
 * Measures change sets that are as large as they may be, on both engines: how long proposing and applying one takes, and how long
 * the polls of another node wait meanwhile.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_DEEDS } from '../../src/domain/change-set.ts';
import { SECOND } from '../../src/lib/clock.ts';
import type { Client } from '../../test/support/client.ts';
import { machineTime, PollProbe, summarize } from '../../test/support/poll-probe.ts';
import { cpuSecondsOf } from './cpu.ts';
import { filesOf, makeFleet, makeIdentities, VERSIONS } from './fleet.ts';
import { BenchCluster } from './postgres-cluster.ts';
import { expect, signIn, visitAll } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { table, verdict } from './report.ts';
import type { Effort } from './scenarios.ts';

/** The most seconds until a set is applied, and the most milliseconds that a poll may wait. */
const TARGETS = { seconds: 10, wait: 50 };
/** A set publishes so many versions, and so many parameter files; the rest of its deeds is done to nodes. */
const PUBLISHED = 100;
const FILES = 300;
const IDLE_MS = 2 * SECOND;
const NEXT = `1.${VERSIONS}.0`;

interface Measured {
  seconds: number;
  /** CPU time of the server. */
  cpu: number;
  /** The longest wait of a poll, and the delay of the probe itself, in milliseconds. */
  longest: number;
  ownDelay: number;
  wrong: number;
}

export interface ChangeSetRow {
  engine: string;
  what: 'proposed' | 'applied';
  nodes: number;
  idle: number;
  measured: Measured;
  met: boolean;
}

/** @param progress is called with what begins */
export async function measureChangeSets(
  folder: string,
  template: string,
  processes: Processes,
  { large }: Effort,
  progress: (message: string) => void,
): Promise<ChangeSetRow[]> {
  const cluster = await BenchCluster.make();
  // One configuration has the files, and nodes are given another one.
  const size = { configurations: PUBLISHED + 2, nodes: Math.min(large.nodes, 10_000) };
  try {
    const rows: ChangeSetRow[] = [];
    for (const [engine, url] of [
      ['SQLite', null],
      ['PostgreSQL', await cluster.newUrl()],
    ] as const) {
      progress(`measuring: a change set on ${engine} of ${MAX_DEEDS} deeds that names ${size.nodes} nodes`);
      const own = join(folder, `change-sets-${engine}`);
      const fleet = await makeFleet(own, template, size, await makeIdentities(1), url);
      const [polling] = fleet.connecting;
      if (polling === undefined) throw new Error('no node of the site can connect');
      const settings: Record<string, string> = url === null ? {} : { HAWSER_DATABASE_URL: url };
      const server = await processes.startHawser(own, { settings });
      await visitAll(server.endpoint, fleet);
      const client = await signIn(server.endpoint);
      const deeds = await makeDeeds(client, polling);
      const probe = await PollProbe.start(server.endpoint, polling, 5);
      rows.push(...(await measureSet({ client, server, probe }, engine, deeds)));
      probe.kill();
      client.close();
      await processes.end(server);
    }
    return rows;
  } finally {
    await cluster.remove();
  }
}

/** What the deeds name is made before: drafts of versions, and the values of a scope type. */
async function makeDeeds(
  client: Client,
  polling: { nodeId: string; configurationName: string },
): Promise<object[]> {
  const read = async <T>(path: string): Promise<T[]> => {
    const found: T[] = [];
    for (;;) {
      const reply = await client.get(`${path}?take=1000&skip=${found.length}`);
      expect(reply.status === 200, path, reply);
      found.push(...reply.json);
      if (reply.json.length < 1_000) return found;
    }
  };
  const names = (await read<{ name: string }>('/api/v1/configurations'))
    .map(({ name }) => name)
    .filter((name) => name !== polling.configurationName);
  const nodeIds = (await read<{ id: string; nodeId?: string }>('/api/v1/nodes'))
    .map(({ id, nodeId }) => nodeId ?? id)
    .filter((id) => id !== polling.nodeId);
  const published = names.slice(0, PUBLISHED);
  const uploaded = Object.fromEntries(filesOf(VERSIONS).map(({ path, content }) => [path, content]));
  for (const name of published) {
    const form = { fields: { version: NEXT }, files: uploaded };
    const reply = await client.upload(`/api/v1/configurations/${name}/versions`, form);
    expect(reply.status === 201, 'a draft', reply);
  }
  const type = await client.post('/api/v1/scope-types', { name: 'Site' });
  expect(type.status === 201, 'a scope type', type);
  const value = await client.post(`/api/v1/scope-types/${type.json.id}/values`, { value: 'tagged' });
  expect(value.status === 201, 'a scope value', value);
  const configurationName = names[0];
  const files = Array.from({ length: FILES }, (_, at) => ({
    ...{ kind: 'SetParameters', configurationName, scopeTypeName: 'Site', scopeValue: `site-${at}` },
    ...{ version: '1.0.0', content: `parameters:\n  number: ${at}\n` },
  }));
  const left = MAX_DEEDS - PUBLISHED - FILES;
  const each = Math.floor(nodeIds.length / left);
  const onNodes = Array.from({ length: left }, (_, at) => {
    const some = { nodeIds: nodeIds.slice(at * each, (at + 1) * each) };
    if (at % 2 === 0) return { kind: 'Assign', configurationName, ...some };
    if (at % 4 === 1) return { kind: 'Tag', scopeValueId: value.json.id, ...some };
    return { kind: 'SetLcmConfig', reportCompliance: true, ...some };
  });
  const publishing = published.map((name) => ({
    ...{ kind: 'PublishConfiguration', configurationName: name, version: NEXT },
  }));
  return [...publishing, ...files, ...onNodes];
}

interface Stage {
  client: Client;
  server: ServerProcess;
  probe: PollProbe;
}

async function measureSet(stage: Stage, engine: string, deeds: readonly object[]): Promise<ChangeSetRow[]> {
  const { client } = stage;
  const nodes = new Set(deeds.flatMap((deed) => ('nodeIds' in deed ? (deed.nodeIds as string[]) : []))).size;
  const made = await measure(stage, () => client.post('/api/v1/change-sets', { title: 'large', deeds }), 201);
  const { id, digest } = made.json;
  const applied = await measure(stage, () => client.post(`/api/v1/change-sets/${id}/apply`, { digest }), 200);
  return [
    { engine, what: 'proposed', nodes, ...made.row, met: isCalm(made.row.measured) },
    {
      ...{ engine, what: 'applied', nodes, ...applied.row },
      met: isCalm(applied.row.measured) && applied.row.measured.seconds <= TARGETS.seconds,
    },
  ];
}

const isCalm = ({ longest, wrong }: Measured) => longest <= TARGETS.wait && wrong === 0;

async function measure(
  { server, probe }: Stage,
  deed: () => ReturnType<Client['post']>,
  status: number,
): Promise<{ json: { id: number; digest: string }; row: Pick<ChangeSetRow, 'idle' | 'measured'> }> {
  const before = machineTime();
  await sleep(IDLE_MS);
  const cpuBefore = cpuSecondsOf(server.pid);
  const start = machineTime();
  const reply = await deed();
  const seconds = (machineTime() - start) / SECOND;
  const cpu = cpuSecondsOf(server.pid) - cpuBefore;
  expect(reply.status === status, 'a large change set', reply);
  await probe.answered(2);
  const polls = await probe.look();
  const idle = summarize(polls.filter((poll) => poll.start >= before && poll.start < start)).longest;
  const { longest, ownDelay, wrong } = summarize(polls.filter((poll) => poll.start >= start));
  return { json: reply.json, row: { idle, measured: { seconds, cpu, longest, ownDelay, wrong } } };
}

export function formatChangeSets(rows: readonly ChangeSetRow[]): string {
  const header = [
    ...['engine', 'a set is', '', 'nodes', 'seconds', 'at most', 'CPU s'],
    ...['idle ms', 'longest ms', 'at most', 'own ms'],
  ];
  const cells = rows.map(({ engine, what, met, nodes, idle, measured }) => [
    ...[engine, what, verdict(met), String(nodes), measured.seconds.toFixed(1)],
    ...[what === 'applied' ? String(TARGETS.seconds) : '', measured.cpu.toFixed(1), idle.toFixed(0)],
    ...[measured.longest.toFixed(0), String(TARGETS.wait), measured.ownDelay.toFixed(0)],
  ]);
  const title = `change sets of ${MAX_DEEDS} deeds, and the polls of another node meanwhile`;
  return [title, ...table([header, ...cells])].join('\n');
}
