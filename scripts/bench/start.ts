/**
 * Measures how long a full server takes to start, compared with an empty one in the same run, and how much memory the
 * server uses once all of its nodes have polled.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND } from '../../src/lib/clock.ts';
import { makeUncheckedClient } from '../../test/support/client.ts';
import { cpuSecondsOf } from './cpu.ts';
import { makeCrowdIdentities } from './crowd-identities.ts';
import { type Fleet, type FleetSize, makeFleet, VERSIONS } from './fleet.ts';
import { median } from './measure.ts';
import { memoryOf } from './memory.ts';
import { expect } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { table, verdict } from './report.ts';
import { inTurn } from './scale.ts';
import type { Effort } from './scenarios.ts';
import { PROXY_ADDRESS, visitAlone, visitByProxy } from './visits.ts';

/** The most by which a full server may start later, in milliseconds. */
const START_TARGET = 2 * SECOND;
/** The most resident memory, in bytes. */
const MEMORY_TARGET = 350e6;
const EMPTY: FleetSize = { configurations: 0, nodes: 0 };

/** From the process's start to the first 200 of /health/ready, in milliseconds. */
interface Start {
  ms: number;
  /** The part of this time that its threads spent on a CPU. */
  cpu: number;
}

export interface StartResults {
  size: FleetSize;
  empty: Start;
  full: Start;
  /** Medians of the differences of the rounds. */
  added: Start;
  startMet: boolean;
  /** In bytes: when the server became ready, and after each tenth of the polls. */
  memory: { ready: number; byPolls: { polls: number; bytes: number }[]; peak: number };
  memoryMet: boolean;
}

/** @param progress is called with what begins */
export async function measureStart(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<StartResults> {
  const { start: size } = effort;
  progress(`making ${size.configurations} configurations and ${size.nodes} nodes`);
  const few = await makeSite(join(folder, 'start-empty'), template, EMPTY);
  const many = await makeSite(join(folder, 'start-full'), template, size);
  progress('measuring: starts');
  const starts = { few: [] as Start[], many: [] as Start[] };
  await inTurn(effort, async (side, counts) => {
    const { start, server } = await startTimed(processes, side === 'few' ? few : many);
    await processes.end(server);
    if (counts) starts[side].push(start);
  });
  progress(`measuring: memory, while ${size.nodes} nodes poll`);
  const memory = await measureMemory(processes, many);
  const added = middle(starts.many.map((full, round) => difference(full, starts.few[round])));
  const last = memory.byPolls.at(-1)?.bytes ?? Number.NaN;
  return {
    ...{ size, empty: middle(starts.few), full: middle(starts.many), added },
    ...{ startMet: added.ms <= START_TARGET, memory, memoryMet: last <= MEMORY_TARGET },
  };
}

function middle(starts: readonly Start[]): Start {
  return { ms: median(starts.map(({ ms }) => ms)), cpu: median(starts.map(({ cpu }) => cpu)) };
}

function difference(full: Start, empty: Start | undefined): Start {
  return { ms: full.ms - (empty?.ms ?? Number.NaN), cpu: full.cpu - (empty?.cpu ?? Number.NaN) };
}

/** Makes a fleet in which every node can connect. */
async function makeSite(folder: string, template: string, size: FleetSize): Promise<Fleet> {
  mkdirSync(folder);
  return makeFleet(folder, template, size, await makeCrowdIdentities(size.nodes));
}

async function startTimed(
  processes: Processes,
  { folder }: Fleet,
): Promise<{ start: Start; server: ServerProcess }> {
  const begun = performance.now();
  const settings = { HAWSER_TRUSTED_PROXIES: PROXY_ADDRESS };
  const server = await processes.startHawser(folder, { settings });
  const client = makeUncheckedClient(server.endpoint);
  const reply = await client.get('/health/ready');
  const start = { ms: performance.now() - begun, cpu: cpuSecondsOf(server.pid) * 1_000 };
  client.close();
  expect(reply.status === 200 && reply.json.checks.repositories === 'Ok', 'readiness', reply);
  return { start, server };
}

/** Each node polls once. One in ten has a connection of its own; for all of them the handshakes would take minutes. */
async function measureMemory(processes: Processes, fleet: Fleet): Promise<StartResults['memory']> {
  const { server } = await startTimed(processes, fleet);
  const ready = memoryOf(server.pid).now;
  const byPolls: { polls: number; bytes: number }[] = [];
  const { connecting } = fleet;
  const tenth = Math.ceil(connecting.length / 10);
  for (let at = 0; at < connecting.length; at += tenth) {
    const visit = at === 0 ? visitAlone : visitByProxy;
    await visit(server.endpoint, connecting.slice(at, at + tenth));
    byPolls.push({ polls: Math.min(at + tenth, connecting.length), bytes: memoryOf(server.pid).now });
  }
  const { peak } = memoryOf(server.pid);
  await processes.end(server);
  return { ready, byPolls, peak };
}

function show({ ms, cpu }: Start): string {
  return `${ms.toFixed(0)} ms (${cpu.toFixed(0)} on a CPU)`;
}

export function formatStart(results: StartResults): string {
  const { size, empty, full, added, startMet, memory, memoryMet } = results;
  const site = `${size.configurations} configurations of ${VERSIONS} versions, ${size.nodes} nodes`;
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  const rows = memory.byPolls.map(({ polls, bytes }) => [String(polls), '', megabytes(bytes)]);
  return [
    `start to ready, ${site}`,
    `  empty ${show(empty)}, full ${show(full)}`,
    `  ${show(added)} more; at most ${START_TARGET} ms: ${verdict(startMet)}`,
    '',
    'resident memory, each node with one poll',
    ...table([['polls', '', 'MB'], ['0, ready', '', megabytes(memory.ready)], ...rows]).map(
      (row) => `  ${row}`,
    ),
    `  at most ${megabytes(memory.peak)} MB meanwhile; in the end at most ${megabytes(MEMORY_TARGET)} MB: ${verdict(memoryMet)}`,
  ].join('\n');
}
