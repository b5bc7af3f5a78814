/**
 * Measures the cleanup of reports on a large database, and how long a small write takes meanwhile, compared with the same
 * writes before it. It measures over HTTP, as a client would: while the cleanup holds the writer, it also blocks the
 * server's single thread.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/lib/clock.ts';
import { expect } from './probe.ts';
import type { RecordSite } from './record-site.ts';
import { verdict } from './report.ts';
import type { Effort } from './scenarios.ts';
import { timed } from './versions.ts';

/** How many times as long as before the slowest write may take, and all but one in a hundred. */
const TARGETS = { worst: 1.5, p99: 2 };
/** The least number of reports that are deleted in a second: 100,000 in a minute. */
const TARGET_RATE = 100_000 / 60;
/** The milliseconds from one write to the next. */
const PAUSE = 3;

/** Times in milliseconds. */
interface Waits {
  writes: number;
  median: number;
  p99: number;
  worst: number;
}

export interface CleanupResult {
  reports: number;
  deleted: number;
  seconds: number;
  /** The times of the same writes before the cleanup, without other load. */
  before: Waits;
  during: Waits;
  /** The times during the cleanup as multiples of those before it. */
  ratios: typeof TARGETS;
  targets: typeof TARGETS & { rate: number };
  met: { worst: boolean; p99: boolean; rate: boolean };
}

export async function measureCleanup(site: RecordSite, effort: Effort): Promise<CleanupResult> {
  const { client, size } = site;
  const start = performance.now();
  const before = await timeWrites(site, () => performance.now() - start < effort.records.idleWritesMs);
  let isDone = false;
  // The cleanup deletes a few reports of every node, as on a real server.
  const order = { keepCount: Math.floor(size.reports / size.nodes) - 1, keepDays: 0 };
  const cleanup = timed(() => client.post('/api/v1/retention/reports/cleanup', order)).finally(() => {
    isDone = true;
  });
  const during = await timeWrites(site, () => !isDone);
  const { ms, reply } = await cleanup;
  expect(reply.status === 200 && reply.json.deletedCount >= size.reports / 20, 'a cleanup', reply);
  const deleted: number = reply.json.deletedCount;
  const seconds = ms / SECOND;
  const ratios = { worst: during.worst / before.worst, p99: during.p99 / before.p99 };
  const met = {
    worst: ratios.worst <= TARGETS.worst,
    p99: ratios.p99 <= TARGETS.p99,
    rate: deleted / seconds >= TARGET_RATE,
  };
  const targets = { ...TARGETS, rate: TARGET_RATE };
  return { reports: size.reports, deleted, seconds, before, during, ratios, targets, met };
}

/** Makes one small write after the other. Each differs from the last one, so that each is a commit with its flush. */
async function timeWrites({ client, oneNode }: RecordSite, goesOn: () => boolean): Promise<Waits> {
  const times: number[] = [];
  while (goesOn()) {
    const reportCompliance = times.length % 2 === 0;
    const { ms, reply } = await timed(() =>
      client.put(`/api/v1/nodes/${oneNode}/lcm-config`, { reportCompliance }),
    );
    expect(reply.status === 200 && reply.json.reportCompliance === reportCompliance, 'a write', reply);
    times.push(ms);
    await sleep(PAUSE);
  }
  return waitsOf(times);
}

function waitsOf(times: readonly number[]): Waits {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { writes: times.length, median: at(0.5), p99: at(0.99), worst: at(1) };
}

export function formatCleanup({ reports, deleted, seconds, ...result }: CleanupResult): string {
  const { before, during, ratios, targets, met } = result;
  const rates = `${(deleted / seconds).toFixed(0)} a second, at least ${targets.rate.toFixed(0)}`;
  return [
    `cleanup: ${deleted} of ${reports} reports deleted in ${seconds.toFixed(0)} s (${rates}: ${verdict(met.rate)})`,
    'small writes over HTTP',
    formatWaits('before it', before),
    formatWaits('during it', during),
    `  99 of 100: ${ratios.p99.toFixed(1)} x, at most ${targets.p99} x: ${verdict(met.p99)}`,
    `  worst: ${ratios.worst.toFixed(1)} x, at most ${targets.worst} x: ${verdict(met.worst)}`,
  ].join('\n');
}

function formatWaits(when: string, { writes, median, p99, worst }: Waits): string {
  const [middle, high, highest] = [median, p99, worst].map((ms) => ms.toFixed(1));
  return `  ${when}: ${writes} writes, median ${middle} ms, 99 of 100 within ${high} ms, worst ${highest} ms`;
}
