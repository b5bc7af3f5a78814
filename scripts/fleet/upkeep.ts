/** What runs beside a long fleet run: cleanups, backups, and the measurement of memory. */

import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../bench/measure.ts';
import type { Measurements } from './measurements.ts';
import type { Operator } from './operator.ts';
import type { FleetOptions } from './options.ts';
import { consumptionOf, type FleetServer } from './server.ts';

/** All times are in milliseconds. */
const CLEANUP_PAUSE = 10_000;
const BACKUP_PAUSE = 30_000;
const SAMPLE_PAUSE = 1_000;
/** The garbage collector makes memory go up and down, so the median over this time counts. */
const WINDOW = 30_000;
/** The most by which memory may grow until the end, as a share of what it was. */
const GROWTH_LIMIT = 0.1;

/** Memory in MiB. */
export interface MemoryCourse {
  settled: number;
  last: number;
  most: number;
}

export interface UpkeepReport {
  cleanups: number;
  deleted: number;
  backups: number;
  /** Null if the run was too short, or somebody else started the server. */
  memory: MemoryCourse | null;
}

interface Circumstances {
  options: FleetOptions;
  server: FleetServer;
  operator: Operator;
  measurements: Measurements;
}

/** Runs until `end`, a time of `performance.now()`. Anything that fails is a fault like a wrong answer. */
export async function keepUp(circumstances: Circumstances, end: number): Promise<UpkeepReport> {
  const { options, server, operator, measurements } = circumstances;
  const report: UpkeepReport = { cleanups: 0, deleted: 0, backups: 0, memory: null };
  const cleanUp = async () => {
    report.deleted += await operator.cleanUp();
    report.cleanups += 1;
  };
  const backUp = async () => {
    await server.backUp?.();
    report.backups += 1;
  };
  const every = (pause: number, who: string, work: () => Promise<void>) =>
    repeat(end, pause, () => work().catch((error: unknown) => measurements.fault(who, error)));
  const [memory] = await Promise.all([
    watchMemory(circumstances, end),
    options.withRetention ? every(CLEANUP_PAUSE, 'retention', cleanUp) : undefined,
    options.withBackup ? every(BACKUP_PAUSE, 'backup', backUp) : undefined,
  ]);
  return { ...report, memory };
}

async function watchMemory(
  { options, server, measurements }: Circumstances,
  end: number,
): Promise<MemoryCourse | null> {
  const { pid } = server;
  if (pid === null) return null;
  const start = performance.now();
  const samples: { at: number; memory: number }[] = [];
  await repeat(end, SAMPLE_PAUSE, async () => {
    samples.push({ at: performance.now() - start, memory: consumptionOf(pid).memory });
  });
  const settledAt = options.settledAfter * 1_000;
  const lastAt = samples.at(-1)?.at ?? 0;
  if (lastAt < settledAt + WINDOW) return null;
  const middle = (to: number) =>
    median(samples.filter(({ at }) => at > to - WINDOW && at <= to).map(({ memory }) => memory));
  const most = Math.max(...samples.map(({ memory }) => memory));
  const course = { settled: middle(settledAt), last: middle(lastAt), most };
  if (course.last > course.settled * (1 + GROWTH_LIMIT))
    measurements.fault('memory', `grew from ${course.settled.toFixed(0)} to ${course.last.toFixed(0)} MiB`);
  return course;
}

/** Pauses and works in turn until `end`. Waits for work that has begun. */
async function repeat(end: number, pause: number, work: () => Promise<void>): Promise<void> {
  while (performance.now() + pause < end) {
    await sleep(pause);
    await work();
  }
}
