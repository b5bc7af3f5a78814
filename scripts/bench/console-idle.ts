/** Measures what open pages of the console cost a server: their polls, and what the polls of nodes notice of them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../../src/lib/clock.ts';
import { machineTime, PollProbe, type PollSummary, summarize } from '../../test/support/poll-probe.ts';
import type { Seen, Sides } from './console.ts';
import { cpuSecondsOf } from './cpu.ts';
import { SCALE_TARGET } from './list-timing.ts';
import { expect } from './probe.ts';
import type { RecordSite } from './record-site.ts';
import { table, verdict } from './report.ts';
import { formatScale, inTurn, type ScaleRow, scaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';

/** The pages that stand open. */
const PAGES = ['/ui/', '/ui/nodes'] as const;
const OPEN_PAGES = 20;
/** So many requests a minute may an open page send. */
const MOST_REQUESTS = 40;
const POLLS_OF_ROUND = 20;
/** An answer that costs so many milliseconds of CPU is cheap enough, whatever the ratio. */
const CHEAP = 5;
/** The most time of the slowest hundredth of the nodes' polls, as a multiple of that without open pages. */
const P99_TARGET = 2;
const POLL_EVERY = 5;

interface IdleRow {
  path: string;
  requestsPerMinute: number;
  /** How many of the answers said that nothing is new. */
  unchanged: number;
  met: boolean;
}

export interface IdleResults {
  rows: IdleRow[];
  /** CPU milliseconds of the server for a poll without news, which is answered with 304 where there is an ETag. */
  polls: ScaleRow[];
  crowd: { pages: number; idle: PollSummary; during: PollSummary; ratio: number; met: boolean };
}

export async function measureIdle(sides: Sides, effort: Effort): Promise<IdleResults> {
  const rows: IdleRow[] = [];
  const paths = new Set<string>();
  for (const path of PAGES) rows.push(await watchIdle(sides.many, path, effort, paths));
  const polls: ScaleRow[] = [];
  for (const path of paths) polls.push(await measurePoll(sides, path, effort));
  return { rows, polls, crowd: await measureCrowd(sides.many, effort) };
}

/** @param paths gets the addresses that the page asks again and again */
async function watchIdle(
  { seen }: Seen,
  path: string,
  { console: { idleMs } }: Effort,
  paths: Set<string>,
): Promise<IdleRow> {
  const context = await seen.user();
  const page = await context.newPage();
  await seen.open(page, path);
  const statuses: number[] = [];
  page.on('response', (response) => {
    const { pathname, search } = new URL(response.url());
    statuses.push(response.status());
    paths.add(pathname + search);
  });
  await sleep(idleMs);
  await context.close();
  const requestsPerMinute = (statuses.length * MINUTE) / idleMs;
  const unchanged = statuses.filter((status) => status === 304).length;
  const met = requestsPerMinute <= MOST_REQUESTS;
  return { path, requestsPerMinute, unchanged: unchanged / statuses.length, met };
}

async function measurePoll(sides: Sides, path: string, effort: Effort): Promise<ScaleRow> {
  const cpu = { few: [] as number[], many: [] as number[] };
  await inTurn(effort, async (side, counts) => {
    const ms = await cpuOfPoll(sides[side].site, path);
    if (counts) cpu[side].push(ms);
  });
  const compared = `${sides.few.site.size.nodes} : ${sides.many.site.size.nodes} nodes`;
  return scaleRow(path.replace('/api/v1', '').slice(0, 48), compared, cpu, SCALE_TARGET, CHEAP);
}

async function cpuOfPoll({ client, server }: RecordSite, path: string): Promise<number> {
  const first = await client.get(path);
  expect(first.status === 200, 'what a page reads', first);
  // Lists of the API have no ETag.
  const etag = first.headers['etag'];
  const headers = { ...(typeof etag === 'string' && { 'If-None-Match': etag }), 'X-Hawser-Poll': '1' };
  const before = cpuSecondsOf(server.pid);
  for (let poll = 0; poll < POLLS_OF_ROUND; poll += 1) {
    const reply = await client.get(path, headers);
    expect(reply.status === (etag === undefined ? 200 : 304), 'a poll without news', reply);
  }
  return ((cpuSecondsOf(server.pid) - before) * 1_000) / POLLS_OF_ROUND;
}

/** A node polls all the time, first alone and then beside many pages that stand open. */
async function measureCrowd({ site, seen }: Seen, { console: { idleMs } }: Effort) {
  const probe = await PollProbe.start(site.endpoint, site.polling, POLL_EVERY);
  const context = await seen.user();
  try {
    await sleep(idleMs / 2);
    const alone = machineTime();
    for (let at = 0; at < OPEN_PAGES; at += 1)
      await seen.open(await context.newPage(), PAGES[at % PAGES.length] ?? '/ui/');
    const start = machineTime();
    await sleep(idleMs / 2);
    const polls = await probe.look();
    const idle = summarize(polls.filter((poll) => poll.start < alone));
    const during = summarize(polls.filter((poll) => poll.start >= start));
    const ratio = during.p99 / idle.p99;
    return { pages: OPEN_PAGES, idle, during, ratio, met: ratio <= P99_TARGET && during.wrong === 0 };
  } finally {
    await context.close();
    probe.kill();
  }
}

export function formatIdle({ rows, polls, crowd }: IdleResults): string {
  const idle = rows.map(({ path, requestsPerMinute, unchanged, met }) => [
    ...[path, '', requestsPerMinute.toFixed(1), String(MOST_REQUESTS), `${(100 * unchanged).toFixed(0)} %`],
    verdict(met),
  ]);
  const { pages, idle: alone, during, ratio, met } = crowd;
  return [
    ...table([['an open page', '', 'requests/min', 'at most', '304', ''], ...idle]),
    '',
    formatScale('CPU of a poll without news', polls),
    '',
    ...table([
      ['polls of a node', '', 'p99 ms before', 'during', 'ratio', 'at most', 'longest ms', 'own ms', ''],
      [
        ...[`beside ${pages} open pages`, '', alone.p99.toFixed(2), during.p99.toFixed(2)],
        ...[`${ratio.toFixed(2)} x`, `${P99_TARGET.toFixed(2)} x`],
        ...[during.longest.toFixed(0), during.ownDelay.toFixed(0), verdict(met)],
      ],
    ]),
  ].join('\n');
}
