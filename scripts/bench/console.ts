/**
 * Measures the console in a real Chromium: what a first visit loads and how long it takes, whether pages of 100,000
 * nodes are as quick as those of 100, and what an open page costs the server.
 */

import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, Traffic } from './console-browser.ts';
import { formatIdle, type IdleResults, measureIdle } from './console-idle.ts';
import { NEWEST_VERSION } from './fleet.ts';
import { median } from './measure.ts';
import { expect } from './probe.ts';
import type { Processes } from './processes.ts';
import { makeRecordSite, type RecordSite } from './record-site.ts';
import { table, verdict } from './report.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';

const FEW_NODES = 100;
const REPORTS_PER_NODE = 3;
const DRAFT = '2.0.0';
/** Bytes of all that the first visit loads from below /ui/, with headers. */
const MOST_BYTES = 100_000;
/** The processor is slowed down by this factor where the first visit is timed. */
const THROTTLE = 4;
/** The time of the first visit: as a multiple of that of the sign-in page, or in milliseconds. */
const FIRST_LOAD = { ratio: 4, ms: 1_000 };
/** Pages with many nodes: as a multiple of the time with few, or so many milliseconds more. */
const GROWTH = { ratio: 1.5, more: 50 };

interface SizeRow {
  path: string;
  requests: number;
  bytes: number;
  /** Null for the page with the editor, which loads it when the rest is there. */
  met: boolean | null;
}

export interface ConsoleResults {
  sizes: SizeRow[];
  firstLoads: ScaleRow[];
  pages: ScaleRow[];
  idle: IdleResults;
}

/** A site, and how Chromium sees it. */
export interface Seen {
  site: RecordSite;
  seen: ConsoleBrowser;
}
export type Sides = Record<Side, Seen>;

/** @param progress is called with what begins */
export async function measureConsole(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<ConsoleResults> {
  const { nodes } = effort.console;
  progress(`making ${nodes} nodes for the console`);
  const make = (name: string, size: number) =>
    makeRecordSite(join(folder, name), template, processes, {
      ...{ nodes: size, reports: REPORTS_PER_NODE * size, reportsOfBusy: FEW_NODES / 2 },
    });
  const few = await make('console-few', FEW_NODES);
  const many = await make('console-many', nodes);
  const { seen, browser } = await ConsoleBrowser.start([few.endpoint, many.endpoint]);
  const [seenFew, seenMany] = seen;
  if (seenFew === undefined || seenMany === undefined) throw new Error('there must be two servers');
  const sides = { few: { site: few, seen: seenFew }, many: { site: many, seen: seenMany } };
  try {
    progress('measuring: what a first visit loads');
    const sizes = await measureSizes(sides.few);
    progress('measuring: first visits on a slow processor');
    const firstLoads = await measureFirstLoads(sides.few, effort);
    progress('measuring: pages of few and of many nodes');
    const pages = await measurePages(sides, effort);
    progress('measuring: open pages');
    const idle = await measureIdle(sides, effort);
    return { sizes, firstLoads, pages, idle };
  } finally {
    await browser.close();
    for (const { site } of Object.values(sides)) site.client.close();
  }
}

async function measureSizes({ site, seen }: Seen): Promise<SizeRow[]> {
  const configuration = '/ui/configurations/configuration-0003';
  const draft = { fields: { version: DRAFT }, files: { 'main.dsc.yaml': '$schema: x\nresources: []\n' } };
  const made = await site.client.upload('/api/v1/configurations/configuration-0003/versions', draft);
  expect(made.status === 201, 'a draft', made);
  const rows: SizeRow[] = [];
  for (const path of [
    ...['/ui/', '/ui/nodes', configuration, `${configuration}/versions/${NEWEST_VERSION}`],
    ...[`${configuration}/compare/1.0.0...${NEWEST_VERSION}`, `${configuration}/drafts/${DRAFT}/review`],
    `${configuration}/drafts/${DRAFT}`,
  ]) {
    const context = await seen.user();
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const traffic = new Traffic(cdp, '/ui/');
    await cdp.send('Network.enable');
    await seen.open(page, path);
    const { requests, bytes } = traffic;
    const hasEditor = path.endsWith(`/drafts/${DRAFT}`);
    rows.push({ path, requests, bytes, met: hasEditor ? null : bytes <= MOST_BYTES });
    await context.close();
  }
  return rows;
}

async function measureFirstLoads({ seen }: Seen, effort: Effort): Promise<ScaleRow[]> {
  const rows: ScaleRow[] = [];
  for (const path of ['/ui/', '/ui/nodes']) {
    const times = { few: [] as number[], many: [] as number[] };
    await inTurn(effort, async (side, counts) => {
      const context = await (side === 'few' ? seen.stranger() : seen.user());
      const page = await context.newPage();
      const cdp = await context.newCDPSession(page);
      await cdp.send('Emulation.setCPUThrottlingRate', { rate: THROTTLE });
      const ms = await (side === 'few' ? seen.openPlain(page, '/login') : seen.open(page, path));
      if (counts) times[side].push(ms);
      await context.close();
    });
    rows.push(scaleRow(`first visit of ${path}`, 'empty cache', times, FIRST_LOAD.ratio, FIRST_LOAD.ms));
  }
  return rows;
}

/** Times one thing in a page of a server. */
type Timing = (seen: ConsoleBrowser, page: Page, site: RecordSite, side: Side) => Promise<number>;

function timings(): [what: string, timing: Timing][] {
  const open = (path: string | ((site: RecordSite, side: Side) => string)): Timing => {
    return (seen, page, site, side) => seen.open(page, typeof path === 'string' ? path : path(site, side));
  };
  // A list of few has one page only, so other pages are compared with it. All of these show 100 rows.
  const pageOf = (number: (site: RecordSite) => number) =>
    open((site, side) => (side === 'few' ? '/ui/nodes' : `/ui/nodes?page=${number(site)}`));
  return [
    ['/ui/', open('/ui/')],
    ['/ui/nodes', open('/ui/nodes')],
    ['nodes, a status of few', open('/ui/nodes?status=Error')],
    ['nodes, page 2', pageOf(() => 2)],
    ['nodes, the last page', pageOf(({ size }) => Math.ceil(size.nodes / FEW_NODES))],
    ['nodes, by last check-in', open('/ui/nodes?sort=-lastCheckIn')],
    ['nodes, a name is typed', typeName],
    ['a node', open(({ oneNode }) => `/ui/nodes/${oneNode}`)],
    ['reports of a node', open(({ oneNode }) => `/ui/nodes/${oneNode}/reports`)],
    ['/ui/reports', open('/ui/reports')],
    ['the palette finds a name', usePalette],
  ];
}

/** From the Enter key to the one row that is left. The pause of the field after each letter does not count. */
async function typeName(seen: ConsoleBrowser, page: Page, { oneNode }: RecordSite): Promise<number> {
  await seen.open(page, '/ui/nodes');
  return page.evaluate<number>(`bench.after(() => {
    const field = document.querySelector('form[role=search] input[name=fqdn]');
    field.value = ${JSON.stringify(oneNode)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  }, () => document.querySelectorAll('main[data-state=ready] tbody tr').length === 1)`);
}

/** From the request, which follows a short pause after the last letter, to the result. */
async function usePalette(seen: ConsoleBrowser, page: Page, { oneNode }: RecordSite): Promise<number> {
  await seen.open(page, '/ui/nodes');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
  return page.evaluate<number>(`bench.after(() => {
    const field = document.querySelector('[role=combobox]');
    field.value = ${JSON.stringify(oneNode)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }, () => document.querySelector('[role=option]') !== null)
    .then(() => performance.now() - performance.getEntriesByType('resource')
      .findLast(({ name }) => name.includes('/search?')).startTime)`);
}

async function measurePages(sides: Sides, effort: Effort): Promise<ScaleRow[]> {
  const compared = `${sides.few.site.size.nodes} : ${sides.many.site.size.nodes} nodes`;
  const contexts = { few: await sides.few.seen.user(), many: await sides.many.seen.user() };
  const rows: ScaleRow[] = [];
  for (const [what, timing] of timings()) {
    const times = { few: [] as number[], many: [] as number[] };
    await inTurn(effort, async (side, counts) => {
      // A page of its own, but with the files in the browser's cache, as in daily work.
      const page = await contexts[side].newPage();
      const ms = await timing(sides[side].seen, page, sides[side].site, side);
      if (counts) times[side].push(ms);
      await page.close();
    });
    const fast = Math.round(median(times.few) + GROWTH.more);
    rows.push(scaleRow(what, compared, times, GROWTH.ratio, fast));
  }
  for (const context of Object.values(contexts)) await context.close();
  return rows;
}

export function formatConsole({ sizes, firstLoads, pages, idle }: ConsoleResults): string {
  const cells = sizes.map(({ path, requests, bytes, met }) => [
    ...[path, '', String(requests), String(bytes)],
    ...(met === null ? ['-', ''] : [String(MOST_BYTES), verdict(met)]),
  ]);
  return [
    ...table([['first visit', '', 'files', 'bytes', 'at most', ''], ...cells]),
    '',
    formatScale(`processor ${THROTTLE} x slower`, firstLoads, ['sign-in', 'console']),
    '',
    formatScale('pages, as nodes grow', pages),
    '',
    formatIdle(idle),
  ].join('\n');
}
