/**
 * Measures previews of a large fleet: how long one takes, how long polls wait meanwhile, and what it takes of the
 * server's memory and of the disk.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { SECOND } from '../../src/lib/clock.ts';
import { machineTime, PollProbe, type PollSummary, summarize } from '../../test/support/poll-probe.ts';
import { cpuSecondsOf } from './cpu.ts';
import { forgetPeak, memoryOf } from './memory.ts';
import { makePreviewSite, NEXT_FILE, NEXT_VERSION, type PreviewSite } from './preview-site.ts';
import { expect } from './probe.ts';
import type { Processes } from './processes.ts';
import { table } from './report.ts';
import type { Effort } from './scenarios.ts';

/** Seconds until it is done, the p99 of polls as a multiple of the usual one, and bytes of memory and of the disk. */
const TARGETS = { seconds: 30, p99: 2, memory: 512e6, disk: 200e6 };
/** A preview that takes longer counts as failed. */
const GIVE_UP = 300 * SECOND;
const LOOK_MS = 100;
/** The milliseconds from one poll to the next. */
const POLL_EVERY = 5;

export interface PreviewMeasurement {
  what: string;
  nodes: number;
  groups: number;
  seconds: number;
  /** CPU time of the server in seconds. Unlike the time above, it depends little on what else the machine does. */
  cpu: number;
  /** Waits of the polls before the preview and during it. */
  idle: PollSummary;
  during: PollSummary;
  /** The p99 during it as a multiple of the one before. */
  ratio: number;
  /** Bytes of resident memory: the peak during the preview minus what it was before. */
  memory: number;
  /** Bytes of the pages that hold the preview. */
  disk: number;
  /** The limits that were missed; empty if all were met. */
  missed: string[];
}

/** @param progress is called with what begins */
export async function measurePreviews(
  folder: string,
  template: string,
  processes: Processes,
  { previews }: Effort,
  progress: (message: string) => void,
): Promise<PreviewMeasurement[]> {
  const rows: PreviewMeasurement[] = [];
  for (const values of [previews.fewValues, previews.manyValues]) {
    const { nodes } = previews;
    progress(`making ${nodes} nodes with ${values} values of each of three scope types`);
    const site = await makePreviewSite(join(folder, `previews-${values}`), template, processes, {
      nodes,
      values,
    });
    for (const { what, change } of changesOf(site)) {
      progress(`measuring: a preview of ${what} that concerns ${nodes} nodes`);
      rows.push(await measurePreview(site, what, change, previews.idleMs));
    }
    site.client.close();
    await processes.end(site.server);
  }
  return rows;
}

function changesOf({ configurationName }: PreviewSite) {
  const version = { configurationName, version: NEXT_VERSION };
  const file = { configurationName, scopeTypeName: 'Default', scopeValue: null, version: NEXT_FILE };
  return [
    { what: 'a version', change: { kind: 'PublishConfiguration', ...version } },
    { what: 'a parameter file', change: { kind: 'PublishParameters', ...file } },
  ];
}

async function measurePreview(
  site: PreviewSite,
  what: string,
  change: object,
  idleMs: number,
): Promise<PreviewMeasurement> {
  const { server, nodes, combinations } = site;
  const probe = await PollProbe.start(server.endpoint, site.polling, POLL_EVERY);
  try {
    await sleep(idleMs);
    forgetPeak(server.pid);
    const before = memoryOf(server.pid).now;
    const cpuBefore = cpuSecondsOf(server.pid);
    const start = machineTime();
    const preview = await makePreview(site, change);
    const end = machineTime();
    const cpu = cpuSecondsOf(server.pid) - cpuBefore;
    const polls = await probe.look();
    const idle = summarize(polls.filter((poll) => poll.start < start));
    const during = summarize(polls.filter((poll) => poll.start >= start && poll.start < end));
    const seconds = (end - start) / SECOND;
    const ratio = during.p99 / idle.p99;
    const memory = Math.max(0, memoryOf(server.pid).peak - before);
    const disk = bytesOnDisk(site.folder, preview.id);
    const faults = {
      counts: preview.counts.changed !== nodes || preview.groupCount !== combinations,
      time: seconds > TARGETS.seconds,
      p99: ratio > TARGETS.p99,
      polls: during.wrong > 0,
      memory: memory > TARGETS.memory,
      disk: disk > TARGETS.disk,
    };
    const missed = Object.entries(faults).flatMap(([name, isMissed]) => (isMissed ? [name] : []));
    return {
      what,
      nodes,
      groups: preview.groupCount,
      seconds,
      cpu,
      idle,
      during,
      ratio,
      memory,
      disk,
      missed,
    };
  } finally {
    probe.kill();
  }
}

interface Preview {
  id: string;
  counts: { changed: number };
  groupCount: number;
}

/** Resolves once the preview is done. */
async function makePreview({ client }: PreviewSite, change: object): Promise<Preview> {
  const begun = await client.post('/api/v1/previews', { changes: [change] });
  expect(begun.status === 201 || begun.status === 202, 'a preview', begun);
  const deadline = performance.now() + GIVE_UP;
  let reply = begun;
  while (reply.json.state === 'Running' && performance.now() < deadline) {
    await sleep(LOOK_MS);
    reply = await client.get(`/api/v1/previews/${begun.json.id}`);
  }
  expect(reply.json.state === 'Done', 'a preview that is done', reply);
  return reply.json;
}

/** What the rows of the preview take. */
function bytesOnDisk(folder: string, previewId: string): number {
  const db = new SqliteDatabase(join(folder, 'data/hawser.db'), { readonly: true });
  const bytes = db
    .prepare<[string], number>(
      `select sum(length(contents) + length(groups) + length(nodes) + length(details))
        from preview_results where preview_id = ?`,
    )
    .pluck()
    .get(previewId);
  db.close();
  return bytes ?? 0;
}

const COLUMNS = [
  ...['preview of', '', 'nodes', 'groups', 'seconds', 'at most', 'CPU s', 'p99 ms before', 'during'],
  ...['ratio', 'at most', 'longest ms', 'own ms', 'MB grown', 'at most', 'MB on disk', 'at most'],
];

export function formatPreviews(rows: readonly PreviewMeasurement[]): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const cells = rows.map((row) => [
    row.what,
    row.missed.length === 0 ? 'met' : `MISSED: ${row.missed.join(', ')}`,
    ...[String(row.nodes), String(row.groups), row.seconds.toFixed(1), String(TARGETS.seconds)],
    row.cpu.toFixed(1),
    ...[row.idle.p99.toFixed(2), row.during.p99.toFixed(2), `${row.ratio.toFixed(2)} x`, `${TARGETS.p99} x`],
    ...[row.during.longest.toFixed(0), row.during.ownDelay.toFixed(0)],
    ...[megabytes(row.memory), megabytes(TARGETS.memory), megabytes(row.disk), megabytes(TARGETS.disk)],
  ]);
  return ['previews, and the polls of a node meanwhile', ...table([COLUMNS, ...cells])].join('\n');
}
